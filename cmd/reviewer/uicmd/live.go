package uicmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/signal"
	"syscall"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/incidentcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/pages"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/webpage"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/serve/pageserver"
)

// serveLive serves the pages until it is interrupted, and prints a link that opens them, and another for each line that is entered.
func serveLive(ctx context.Context, a *cli.App, b *book, port int) error {
	if _, err := a.Person("serving the pages"); err != nil {
		return fmt.Errorf("%w\n`reviewer ui --export DIR` writes them to files", err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	listeners, err := pageserver.Listen(port)
	if err != nil {
		return fmt.Errorf("the pages cannot be served at port %d; --port names another: %w", port, err)
	}
	at := listeners[0].Addr().(*net.TCPAddr)
	if err := cli.KeepPageAddress(b.log.Dir, at.String()); err != nil {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
		return err
	}
	s := serverOf(b)
	s.Prepare(at.Port)
	go func() { _ = b.refresh() }() // each page says what it cannot read
	tell := func() {
		fmt.Fprintf(a.Stdout, "open within ten seconds: %s\n", s.Link())
	}
	tell()
	fmt.Fprintln(a.Stdout, "Enter prints another link, for another browser or later; Ctrl-C ends.")
	go func() {
		for in := bufio.NewScanner(a.Stdin); in.Scan(); {
			tell()
		}
	}()
	return s.Serve(ctx, listeners)
}

// serverOf serves the pages of a book.
func serverOf(b *book) *pageserver.Server {
	return &pageserver.Server{Script: pages.Script, Styles: []string{pages.StyleSource(), webpage.StyleSource()}, Changes: b.Changes,
		Page: b.serve, Refused: func(why string) []byte {
			return b.rendered(pages.Problem{Frame: pages.Frame{Title: "No access", Made: b.now().UnixMilli()}, Text: why})
		}}
}

var incidentName = engine.Regexp(`^incident-([0-9a-f]{8}-[0-9]{1,15})$`)

// serve makes the page with a name. What was added to the log since the last look is read first, unless the log is being read for the
// first time: then the page shows what is known so far.
func (b *book) serve(ctx context.Context, name string, q url.Values) (int, []byte) {
	if b.reading.TryLock() {
		b.reading.Unlock()
		if err := b.refresh(); err != nil {
			return http.StatusInternalServerError, b.problem("The log cannot be read", cli.Masked(err.Error()))
		}
	}
	if m := incidentName().FindStringSubmatch(name); m != nil {
		var text bytes.Buffer
		i, err := incidentcmd.Reported(b.app, m[1])
		if err == nil {
			err = incidentcmd.WritePage(&text, i)
		}
		if err != nil {
			return http.StatusNotFound, b.problem("No such incident", cli.Masked(err.Error()))
		}
		return http.StatusOK, text.Bytes()
	}
	page, err := b.page(ctx, name, q)
	missing := notFound{}
	switch {
	case errors.As(err, &missing):
		return http.StatusNotFound, b.problem("Not found", missing.what)
	case err != nil:
		return http.StatusInternalServerError, b.problem("This page cannot be shown", cli.Masked(err.Error()))
	}
	return http.StatusOK, b.rendered(page)
}

func (b *book) problem(title, text string) []byte {
	return b.rendered(pages.Problem{Frame: b.frame(title, ""), Text: text})
}

func (b *book) rendered(p pages.Page) []byte {
	var text bytes.Buffer
	if err := pages.Render(&text, p, b.zone); err != nil {
		return []byte("<!doctype html><title>reviewer</title><p>This page cannot be shown.</p>")
	}
	return text.Bytes()
}
