package runcmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/agent-reviewer/reviewer/engine/run/tree"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// leftovers are what a run made, for the next one: if the supervisor is killed, nothing else removes them.
type leftovers struct {
	Process tree.ID  `json:"process"` // the supervisor
	Made    []string `json:"made"`
	Temp    string   `json:"temp"`
}

const leftoversPrefix = "made-"

func (c *confinement) leftoversFile() string {
	return filepath.Join(c.p.policy.log.Dir, wire.RunDir, leftoversPrefix+strconv.Itoa(os.Getpid())+".json")
}

// remember writes down what was made.
func (c *confinement) remember() error {
	if c.dry {
		return nil
	}
	raw, err := json.Marshal(leftovers{tree.Identify(os.Getpid()), c.made, c.temp})
	if err == nil {
		err = os.WriteFile(c.leftoversFile(), raw, 0o600)
	}
	if err != nil {
		return fmt.Errorf("record what the run makes: %w", err)
	}
	return nil
}

func (c *confinement) forget() {
	if !c.dry {
		_ = os.Remove(c.leftoversFile()) // the next run finds it
	}
}

// removeLeftovers removes what runs made whose supervisors do not run any longer.
func removeLeftovers(state string) {
	files, _ := filepath.Glob(filepath.Join(state, wire.RunDir, leftoversPrefix+"*.json")) // the pattern is right
	for _, file := range files {
		var left leftovers
		raw, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(raw, &left) != nil || tree.Identify(int(left.Process.Pid)) == left.Process {
			continue
		}
		tree.KillLeft() // a process of it would find the places without protection
		removeMade(left.Made)
		if left.Temp != "" {
			_ = os.RemoveAll(left.Temp) // what is left is only space
		}
		_ = os.Remove(file) // the next run tries again
	}
}

// removeMade removes folders that are still empty, and files, which the run could not change.
func removeMade(made []string) {
	for _, path := range slices.Backward(made) {
		_ = os.Remove(path) // a folder stays if something is in it
	}
}
