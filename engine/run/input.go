package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// input passes standard input on line by line, so that something can be said in between.
type input struct {
	mu     sync.Mutex
	to     *os.File
	closed bool
}

// MaxSaid limits a line of Say with its line end: the kernel writes so much into a pipe completely or not at all.
const MaxSaid = 4096

// ErrBusy means that the command does not read at the moment: try again later.
var ErrBusy = errors.New("the command does not read its input at the moment")

// ErrClosed means that the command gets no more input.
var ErrClosed = errors.New("the command gets no more input")

// Say passes a line to the command's standard input, between two lines of Options.Stdin. It never waits.
func (r *Run) Say(line []byte) error {
	switch {
	case r.input == nil:
		return ErrClosed
	case len(line) >= MaxSaid || bytes.IndexByte(line, '\n') >= 0:
		return fmt.Errorf("say something to the command: expected one line of at most %d bytes", MaxSaid-1)
	}
	return r.input.say(append(bytes.Clone(line), '\n'))
}

func (i *input) say(line []byte) error {
	if !i.mu.TryLock() {
		return ErrBusy
	}
	defer i.mu.Unlock()
	if i.closed {
		return ErrClosed
	}
	_ = i.to.SetWriteDeadline(time.Now().Add(time.Millisecond)) // pipes have one
	_, err := i.to.Write(line)
	_ = i.to.SetWriteDeadline(time.Time{}) // pipes have a deadline
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrBusy
	case err != nil:
		return ErrClosed
	}
	return nil
}

// pipeInput makes the pipe from which the command reads.
func (r *Run) pipeInput() (*os.File, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pass on the command's input: %w", err)
	}
	r.input = &input{to: to}
	if r.o.Stdin == nil {
		return from, nil // it stays open until the run ends
	}
	go r.input.copy(r.o.Stdin)
	return from, nil
}

// copy passes on complete lines, and what is left at the end.
func (i *input) copy(from io.Reader) {
	var rest []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		rest = append(rest, buffer[:n]...)
		if end := bytes.LastIndexByte(rest, '\n') + 1; end > 0 {
			if i.write(rest[:end]) != nil {
				return // the command reads no more
			}
			rest = append(rest[:0], rest[end:]...)
		}
		if err != nil {
			_ = i.write(rest) // the command may read no more
			i.close()
			return
		}
	}
}

func (i *input) write(b []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(b) == 0 {
		return nil
	}
	_, err := i.to.Write(b)
	return err
}

func (i *input) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	_ = i.to.Close() // it may be closed
}

// interrupt asks the command by its own protocol to stop, and gives it some time to end by itself. A command that
// does not read its input is asked in vain.
func (r *Run) interrupt() {
	if r.input == nil || r.o.Interrupt == nil {
		return
	}
	end := time.Now().Add(r.o.Grace / 2)
	_ = r.input.to.SetWriteDeadline(end) // pipes have one
	if r.input.write(append(bytes.Clone(r.o.Interrupt), '\n')) != nil {
		return
	}
	r.tell(Event{Kind: EventInterrupt, Text: "asked to stop by its control protocol", Pid: r.pid})
	r.input.close()
	select {
	case <-r.ended:
	case <-time.After(time.Until(end)):
	}
}
