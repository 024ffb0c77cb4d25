package run

import (
	"encoding/json"
	"syscall"
)

// Confinement is what limits what a command can reach; engine/run/sandbox has one.
type Confinement interface {
	// Attr changes how the helper is started.
	Attr(*syscall.SysProcAttr)
	// Order is what the helper has to do, as Apply in the helper understands it.
	Order() (json.RawMessage, error)
	// Given receives the files that the helper passes back, and owns them from then on.
	Given(files []int) error
}

// orderFD is the helper's end of the socket to the supervisor: the first after the standard streams.
const orderFD = 3

// task contains the supervisor's orders for the helper.
type task struct {
	Program   string          `json:"program"`
	Args      []string        `json:"args"`
	OpenFiles uint64          `json:"open_files,omitempty"`
	FileSize  uint64          `json:"file_size,omitempty"`
	Confine   json.RawMessage `json:"confine,omitempty"`
}

// reply is what the helper sends before it becomes the command.
type reply struct {
	Error string `json:"error,omitempty"`
	Files int    `json:"files,omitempty"` // that come with it
}

// maxReply limits a reply, and maxFiles the files that come with it.
const (
	maxReply = 64 << 10
	maxFiles = 64
)
