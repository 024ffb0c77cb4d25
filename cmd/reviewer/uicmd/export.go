package uicmd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/incidentcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/pages"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/overview"
)

// The limits of an export.
const (
	mostExplained = 100  // records whose decision is explained: those most worth a look
	mostRecords   = 5000 // records with a page of their own
)

// export writes all pages into a folder, which must be empty or not exist, and returns how many there are.
func (b *book) export(ctx context.Context, dir string) (int, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return 0, fmt.Errorf("%s is not empty: name a new folder, so that no page of an earlier export is taken for one of this", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	if err := b.refresh(); err != nil {
		return 0, err
	}
	w := &writer{book: b, dir: dir}
	for _, name := range b.names() {
		page, err := b.page(ctx, name, nil)
		if err != nil {
			return w.written, fmt.Errorf("%s.html: %w", name, err)
		}
		if err := w.page(name, page); err != nil {
			return w.written, err
		}
	}
	if err := w.sessions(ctx); err != nil {
		return w.written, err
	}
	return w.written, w.records(ctx)
}

// names lists the pages that are there whatever is in the log.
func (b *book) names() []string {
	names := []string{"sessions", "questions", "policy"}
	for _, s := range pages.Spans() {
		names = append(names, s.Name)
		for _, k := range pages.Kinds() {
			names = append(names, s.Name+"-"+k[0])
		}
	}
	return names
}

// writer writes pages to files.
type writer struct {
	book    *book
	dir     string
	written int
}

func (w *writer) page(name string, p pages.Page) error {
	var text bytes.Buffer
	if err := pages.Render(&text, p, w.book.zone); err != nil {
		return fmt.Errorf("%s.html: %w", name, err)
	}
	w.written++
	return os.WriteFile(filepath.Join(w.dir, name+".html"), text.Bytes(), 0o600)
}

// sessions writes the pages of each session, all parts of its timeline, and its incidents.
func (w *writer) sessions(ctx context.Context) error {
	b := w.book
	b.mu.Lock()
	all := b.index.Sessions()
	folders := make([]string, 0, len(all))
	for _, s := range all {
		folders = append(folders, b.folders[s.Key])
	}
	b.mu.Unlock()
	for _, folder := range folders {
		first, err := b.session(ctx, folder, "")
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(sessionHref(folder), ".html")
		if err := w.page(name, first); err != nil {
			return err
		}
		parts := len(first.(pages.Session).Pages)
		for at := 1; at < parts; at++ {
			part, err := b.session(ctx, folder, fmt.Sprint(at))
			if err == nil {
				err = w.page(fmt.Sprintf("%s-p%d", name, at), part)
			}
			if err != nil {
				return err
			}
		}
		for _, i := range first.(pages.Session).Incidents {
			if err := w.incident(i.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) incident(id string) error {
	i, err := incidentcmd.Reported(w.book.app, id)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(w.dir, "incident-"+id+".html"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w.written++
	return errors.Join(incidentcmd.WritePage(f, i), f.Close())
}

// records writes the pages of the events, those most worth a look with an explanation.
func (w *writer) records(ctx context.Context) error {
	b := w.book
	b.mu.Lock()
	var events []*overview.Event
	for _, s := range b.index.Sessions() {
		events = append(events, s.Events()...)
	}
	explained := map[string]bool{}
	ranked := overview.Ranked(events)
	for _, e := range ranked[:min(mostExplained, len(ranked))] {
		explained[e.ID] = true
	}
	b.mu.Unlock()
	for i, e := range events {
		if i == mostRecords {
			return fmt.Errorf("only %d of %s have a page; `reviewer ui` shows the others", mostRecords,
				engine.Counted(len(events), "event", "events"))
		}
		p, err := b.record(ctx, e.ID, explained[e.ID])
		if missing := (notFound{}); errors.As(err, &missing) {
			continue // retention deleted it meanwhile
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if err := w.page(strings.TrimSuffix(pages.RecordHref(e.ID), ".html"), p); err != nil {
			return err
		}
	}
	return nil
}
