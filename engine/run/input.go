package run

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// input passes standard input on line by line, so that something can be said in between.
type input struct {
	mu sync.Mutex
	to *os.File
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
			_ = i.write(rest) // as above
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
	_ = i.to.Close() // it may be closed
}

// interrupt asks the command by its own protocol to stop, and gives it some time to end by itself. A command that
// does not read its input is asked in vain.
func (r *Run) interrupt() {
	if r.input == nil {
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
