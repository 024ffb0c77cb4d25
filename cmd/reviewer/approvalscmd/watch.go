package approvalscmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// lookEvery is how often the questions are read: often enough to feel live.
const lookEvery = 300 * time.Millisecond

// Terminal sequences: begin cuts lines instead of wrapping them, hides the cursor and marks
// pasted text; end undoes this.
const (
	begin = "\x1b[?7l\x1b[?25l\x1b[?2004h"
	end   = "\x1b[?2004l\x1b[?25h\x1b[?7h"
)

func watchCommand(a *cli.App, propose Propose) *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Show questions as they come and go, and answer them with single keys; needs a person at a terminal",
		Long: "The list changes as questions come and go; a new one rings the bell. Keys: j and k or the arrow\n" +
			"keys select, enter shows the question, a approves, s approves for the session, p approves and proposes an\n" +
			"exception, d denies with a message, x denies and stops the session, q quits. Pasted text is ignored.",
		Example: "  reviewer approvals watch",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := open(a)
			if err != nil {
				return err
			}
			if err := mayWatch(a); err != nil {
				return err
			}
			restore, err := a.Raw()
			if err != nil {
				return fmt.Errorf("read keys: %w", err)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			w := &watcher{app: a, choice: answering{queue: q}, propose: propose, proposed: make(chan string, 1)}
			fmt.Fprint(a.Stdout, begin)
			defer func() { // even if it panics
				fmt.Fprint(a.Stdout, "\r\n"+end)
				restore()
			}()
			return w.run(ctx, typed(a.Stdin))
		},
	}
}

// mayWatch refuses everyone but a person. In a terminal that an agent can also type into,
// it allows watching only: keys prove nothing there, and a code cannot be requested for
// each.
func mayWatch(a *cli.App) error {
	_, err := a.Person(answeringAQuestion)
	if errors.As(err, new(*cli.SharedTerminalError)) && a.StdinTerminal() {
		return nil
	}
	return err
}

// typed passes on what is typed, until the input ends.
func typed(in io.Reader) <-chan []byte {
	pieces := make(chan []byte)
	go func() {
		defer close(pieces)
		for {
			b := make([]byte, 256)
			n, err := in.Read(b)
			if n > 0 {
				pieces <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	return pieces
}

// watcher draws a board, and carries out what keys ask for.
type watcher struct {
	app    *cli.App
	choice answering
	board  board
	keys   keys
	drawn  string
	height int // of what is drawn

	propose  Propose
	proposed chan string // a line about each proposal that is finished
}

func (w *watcher) run(ctx context.Context, input <-chan []byte) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := w.look(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case piece, more := <-input:
			if quit := w.take(ctx, piece); quit || !more {
				return nil
			}
		case line := <-w.proposed:
			w.board.status = line
		case <-tick.C:
		}
	}
}

// look reads the questions, and draws what changed.
func (w *watcher) look() error {
	list, err := w.choice.queue.Waiting()
	if err != nil {
		return err
	}
	if w.board.update(list, time.Now()) {
		fmt.Fprint(w.app.Stdout, "\a")
	}
	w.draw()
	return nil
}

// draw replaces what was drawn before, unless it is the same.
func (w *watcher) draw() {
	width, height := w.app.Screen()
	lines := w.board.lines(width, height, w.app.Paint(&term.Output{}), time.Now())
	text := strings.Join(lines, "\r\n")
	if text == w.drawn {
		return
	}
	up := ""
	if w.height > 1 {
		up = fmt.Sprintf("\x1b[%dA", min(w.height, height)-1)
	}
	fmt.Fprint(w.app.Stdout, "\r"+up+"\x1b[J"+text)
	w.drawn, w.height = text, len(lines)
}

// take carries out the keys in a piece of input, and reports whether the person quits.
func (w *watcher) take(ctx context.Context, piece []byte) (quit bool) {
	for _, k := range w.keys.read(piece) {
		r := w.board.press(k, time.Now())
		switch {
		case r.quit:
			return true
		case r.show != nil:
			w.show(r.show.ID)
		case r.answer != nil:
			w.board.status = w.answer(ctx, *r.answer)
		}
	}
	return false
}

func (w *watcher) show(id string) {
	r, err := waiting(w.choice.queue, id)
	if err != nil {
		w.board.status = cli.Masked(err.Error())
		return
	}
	w.board.shown = &shownDocument{Request: r, Hidden: term.Hidden(r.Action), Changes: changesOf(w.choice.queue.Log, &r)}
}

// answer gives an answer, and returns a line that reports it. It checks for each answer that a
// person is at the terminal.
func (w *watcher) answer(ctx context.Context, o order) string {
	by, err := w.app.Person(answeringAQuestion)
	if errors.As(err, new(*cli.SharedTerminalError)) {
		return "an agent can type into this terminal: answer with `reviewer approvals approve` or `deny`, which ask for the approval code"
	}
	if err != nil {
		return cli.Masked(err.Error())
	}
	c := w.choice
	c.by, c.channel, c.approve, c.session, c.stop, c.digest = by, terminal, o.approve, o.session, o.stop, o.question.Digest
	if c.message, err = cli.WithoutSecrets(c.queue.Log, o.message); err != nil {
		return cli.Masked(err.Error())
	}
	r, err := waiting(c.queue, o.question.ID)
	d := c.one(ctx, o.question.ID, r, err)
	w.board.shown, w.board.scroll = nil, 0
	if o.propose && d.Refused == "" {
		go w.proposal(ctx, d.ID)
		return d.line() + "; a rule is being proposed"
	}
	return d.line()
}

// proposal proposes a rule while the person continues. What the command would print is in a file
// next to the proposal.
func (w *watcher) proposal(ctx context.Context, id string) {
	dir := filepath.Join(w.choice.queue.Log.Dir, "proposals", id)
	var text bytes.Buffer
	app := *w.app
	app.Stdout, app.Stderr = &text, io.Discard
	err := os.MkdirAll(filepath.Dir(dir), 0o700)
	if err == nil {
		err = w.propose(ctx, &app, id, dir)
	}
	if err == nil {
		err = os.WriteFile(dir+".txt", text.Bytes(), 0o600)
	}
	line := "a rule is proposed: " + dir + ".txt"
	if err != nil {
		line = "no rule was proposed: " + cli.Masked(err.Error())
	}
	select {
	case w.proposed <- line:
	case <-ctx.Done():
	}
}

// line describes an answer in one line.
func (d *answerDocument) line() string {
	text := "denied "
	switch {
	case d.Refused != "":
		return "refused: " + d.Refused
	case d.Approved && d.Session:
		text = "approved until the session ends "
	case d.Approved:
		text = "approved "
	case d.Stopped:
		text = "denied, session stopped "
	}
	return text + d.ID
}
