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
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
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

// watched is how far back `watch` lists denied calls and stopped sessions.
const watched = 24 * time.Hour

func watchCommand(a *cli.App, propose Propose, over Overrides) *cobra.Command {
	return &cobra.Command{
		Use:   "watch",
		Short: "Show questions, denied calls and stopped sessions as they come and go, and decide about them; needs a person at a terminal",
		Long: "Shows the questions that wait, and the denied calls and stopped sessions of the last 24 hours. A new question\n" +
			"or stop rings the bell. Keys: j and k or the arrow keys select, enter shows, q quits. What can be done with the\n" +
			"selection is below it: a approves or allows, s does so for the session, p approves and proposes an exception,\n" +
			"r resumes a session; d denies with a message, x denies and stops the session. Pasted text is ignored.\n\n" +
			"The approval code is asked for once. Its key stays in the memory of this process for as long as the setting\n" +
			"overrides.window allows, and is wiped when the program ends or is suspended, when the terminal is closed, and\n" +
			"when the machine sleeps. Meanwhile, each act that makes policy milder is its letter and two characters, which are\n" +
			"shown next to it and are new ones each time. In a terminal that an agent can read as well, such as a\n" +
			"multiplexer, each act asks for the code.",
		Example: "  reviewer approvals watch",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := watch(cmd.Context(), a, &watcher{propose: propose, listing: listing{over: over, span: watched}})
			return err
		},
	}
}

// Each asks a person about each denied call that can be allowed, with one approval code. It returns what they did, a line each.
func Each(ctx context.Context, a *cli.App, over Overrides) ([]string, error) {
	return watch(ctx, a, &watcher{board: board{each: true}, listing: listing{over: over, calls: true}})
}

// watch shows a board until the person quits, and returns what they did.
func watch(ctx context.Context, a *cli.App, w *watcher) ([]string, error) {
	q, err := open(a)
	if err != nil {
		return nil, err
	}
	w.app, w.choice, w.proposed = a, answering{queue: q}, make(chan string, 1)
	w.listing.queue, w.listing.held, w.board.draw = q, map[engine.SessionKey]*held{}, drawPair
	w.window = signed.Window{Limit: windowOf(ctx, a), Clock: signed.Now}
	defer w.window.Wipe()
	shared, err := w.person()
	if err != nil {
		return nil, err
	}
	if list, err := w.listing.items(time.Now()); err != nil || w.board.each && len(list) == 0 {
		return nil, err
	}
	if err := w.unlock(ctx, shared); err != nil {
		return nil, err
	}
	if w.restore, err = a.Raw(); err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	fmt.Fprint(a.Stdout, begin)
	defer func() { // even if it panics
		fmt.Fprint(a.Stdout, "\r\n"+end)
		w.restore()
	}()
	err = w.run(ctx, typed(a.Stdin))
	return w.done, err
}

// windowOf returns for how long one code is enough, according to the settings. If they cannot be read, each act needs the code.
func windowOf(ctx context.Context, a *cli.App) time.Duration {
	e, err := a.ShownPolicy(ctx, "")
	if err != nil {
		return 0
	}
	return time.Duration(e.Settings.Overrides.Window) * time.Minute
}

// person refuses everyone but a person. shared: an agent can type into their terminal, and may read it.
func (w *watcher) person() (shared bool, err error) {
	_, err = w.app.Person(deciding)
	if errors.As(err, new(*cli.SharedTerminalError)) && w.app.StdinTerminal() {
		return true, nil
	}
	return false, err
}

// unlock asks for the code once. In a shared terminal, and where no key is kept, each act asks for it.
func (w *watcher) unlock(ctx context.Context, shared bool) error {
	if shared || w.window.Limit == 0 {
		return signed.Harden()
	}
	act, err := signed.Ask(ctx, w.app, w.choice.queue.Log, deciding)
	if err == nil {
		w.window.Open(act)
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
	app     *cli.App
	window  signed.Window
	choice  answering
	listing listing
	board   board
	keys    keys
	drawn   string
	height  int // of what is drawn
	restore func()
	done    []string // what was done, a line each

	propose  Propose
	proposed chan string // a line about each proposal that is finished
}

func (w *watcher) run(ctx context.Context, input <-chan []byte) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	signals := make(chan os.Signal, 2)
	if list := suspensions(); len(list) > 0 {
		signal.Notify(signals, list...)
		defer signal.Stop(signals)
	}
	for {
		if quit, err := w.look(time.Now()); quit || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case piece, more := <-input:
			if quit, err := w.take(ctx, piece, signals); quit || !more || err != nil {
				return err
			}
		case s := <-signals:
			if err := w.interrupted(s, signals); err != nil {
				return err
			}
		case line := <-w.proposed:
			w.board.status = line
		case <-tick.C:
		}
	}
}

// look reads what waits for a decision, and draws what changed.
func (w *watcher) look(now time.Time) (quit bool, err error) {
	w.keep()
	list, err := w.listing.items(now)
	if err != nil {
		return false, err
	}
	if w.board.update(list, now) {
		fmt.Fprint(w.app.Stdout, "\a")
	}
	if w.board.each && len(list) == 0 {
		return true, nil
	}
	if w.board.each && w.board.shown == nil {
		w.show(w.board.chosen)
	}
	w.draw()
	return false, nil
}

// keep wipes the key when it is time, and lets the board know whether it is there.
func (w *watcher) keep() {
	act, why := w.window.Act()
	if w.board.open && act == nil {
		w.board.forget()
		w.board.status = "the key was wiped" + term.After(": ", why) + "; the next act asks for the approval code"
	}
	w.board.open = act != nil
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
func (w *watcher) take(ctx context.Context, piece []byte, signals <-chan os.Signal) (quit bool, err error) {
	defer clear(piece) // it may be the code
	for _, k := range w.keys.read(piece) {
		if !w.board.takes(k) {
			continue
		}
		switch r := w.board.press(k.key, time.Now()); {
		case r.quit:
			return true, nil
		case r.suspend:
			if err := w.suspend(signals); err != nil {
				return false, err
			}
		case r.wipe:
			w.window.Wipe()
			w.board.open = false
			w.draw()
		case r.show != nil:
			w.show(r.show)
		case r.order != nil:
			w.board.status = w.decide(ctx, *r.order, r.code)
			clear(r.code)
			w.listing.read = time.Time{} // what was decided is not listed any more
			w.draw()
		}
	}
	return false, nil
}

// interrupted wipes the key when the program is suspended, or was.
func (w *watcher) interrupted(s os.Signal, signals <-chan os.Signal) error {
	if continues(s) {
		w.window.Wipe()
		w.drawn = ""
		return nil
	}
	return w.suspend(signals)
}

// suspend stops the program until the shell continues it. The key does not wait in the memory meanwhile.
func (w *watcher) suspend(signals <-chan os.Signal) (err error) {
	w.window.Wipe()
	if len(suspensions()) == 0 {
		return nil
	}
	fmt.Fprint(w.app.Stdout, "\r\n"+end)
	w.restore()
	suspend()
	for s := range signals {
		if continues(s) {
			break
		}
	}
	if w.restore, err = w.app.Raw(); err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	fmt.Fprint(w.app.Stdout, begin)
	w.drawn, w.height = "", 0
	return nil
}

func (w *watcher) show(i *item) {
	d := shownDocument{Request: i.Request, Hidden: term.Hidden(i.Action)}
	if i.kind == question {
		r, err := waiting(w.choice.queue, i.ID)
		if err != nil {
			w.board.status = cli.Masked(err.Error())
			return
		}
		d.Request, d.Changes = r, ChangesOf(w.choice.queue.Log, &r)
	}
	w.board.shown = &d
}

const deciding = "deciding about calls and sessions"

// decide carries out an order, and returns a line that reports it.
func (w *watcher) decide(ctx context.Context, o order, secret []byte) string {
	act, err := w.signer(ctx, &o, secret)
	if err != nil {
		return cli.Masked(err.Error())
	}
	if act != nil && !w.window.Keeps(act) {
		defer act.Signer.Wipe()
	}
	w.board.shown, w.board.scroll = nil, 0
	line, ok := w.carryOut(ctx, &o, act)
	if ok {
		w.done = append(w.done, line)
	}
	return line
}

// signer returns the person who signs an order, which is checked for each; nil: nobody signs it, and it needs no signature.
func (w *watcher) signer(ctx context.Context, o *order, secret []byte) (*signed.Act, error) {
	kept, why := w.window.Act()
	if !o.signed() {
		return kept, nil
	}
	if secret != nil {
		act, err := signed.Typed(ctx, w.app, w.choice.queue.Log, deciding, string(secret))
		if err == nil && act.Channel != signed.Shared {
			w.window.Open(act)
		}
		return act, err
	}
	if kept == nil {
		return nil, fmt.Errorf("nothing was done: the key was wiped%s; the next act asks for the approval code", term.After(": ", why))
	}
	shared, err := w.person()
	if shared {
		w.window.Wipe()
		return nil, errors.New("nothing was done: an agent can type into this terminal now, so each act asks for the approval code")
	}
	return kept, err
}

// carryOut carries out an order, and returns a line that reports it.
func (w *watcher) carryOut(ctx context.Context, o *order, act *signed.Act) (line string, ok bool) {
	var err error
	switch o.item.kind {
	case question:
		return w.answer(ctx, o, act)
	case denied:
		line = "allowed once " + o.item.ID
		if o.session {
			line = "allowed until the session ends " + o.item.ID
		}
		err = w.listing.over.Allow(ctx, w.app, w.choice.queue.Log, o.item.session, o.item.record, o.session, act)
	case stopped:
		line = "resumed session " + o.item.ID
		err = w.listing.over.Resume(ctx, w.choice.queue.Log, o.item.session, act)
	}
	if err != nil {
		return "refused: " + cli.Masked(err.Error()), false
	}
	return line, true
}

// answer answers a question.
func (w *watcher) answer(ctx context.Context, o *order, act *signed.Act) (line string, ok bool) {
	c := w.choice
	c.by, c.channel = cli.UserName(), unsigned
	if act != nil {
		c.by, c.channel, c.signer = act.By, act.Channel, act.Signer
	}
	c.approve, c.session, c.stop, c.digest = o.approve, o.session, o.stop, o.item.Digest
	var err error
	if c.message, err = cli.WithoutSecrets(c.queue.Log, o.message); err != nil {
		return cli.Masked(err.Error()), false
	}
	r, err := waiting(c.queue, o.item.ID)
	d := c.one(ctx, o.item.ID, r, err)
	if o.propose && d.Refused == "" {
		go w.proposal(ctx, d.ID)
		return d.line() + "; a rule is being proposed", true
	}
	return d.line(), d.Refused == ""
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
