//go:build !linux

package sandbox

import (
	"encoding/json"
	"errors"
	"net"
	"syscall"
)

var errHere = errors.New("isolation is available on Linux only; use --profile observe")

// Probe reports what the system offers: nothing here.
func Probe() Features { return Features{Why: "this is not Linux"} }

// Confinement applies a plan.
type Confinement struct{}

// New prepares a confinement.
func New(Plan, func(Denial), func([]net.Listener)) (*Confinement, error) { return nil, errHere }

// Attr does nothing here.
func (c *Confinement) Attr(*syscall.SysProcAttr) {}

// Order fails here.
func (c *Confinement) Order() (json.RawMessage, error) { return nil, errHere }

// Given fails here.
func (c *Confinement) Given([]int) error { return errHere }

// Close does nothing here.
func (c *Confinement) Close() {}

// Apply fails here.
func Apply([]byte, func(files ...int) error) error { return errHere }
