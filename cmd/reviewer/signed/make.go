package signed

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

const making = "making an approval code"

// Make makes an approval code, and replaces one that is set after asking for it.
func Make(ctx context.Context, a *cli.App, log *audit.Store) (secret string, err error) {
	codes := &code.Store{Log: log}
	there, err := codes.Exists()
	switch {
	case err != nil:
		return "", err
	case !there:
		return first(ctx, a, log)
	}
	act, err := ask(ctx, a, log, "replacing the approval code", codeOf(a), (*code.Store).UnlockToReplace)
	if err != nil {
		return "", err
	}
	defer act.Signer.Wipe()
	return codes.Set(ctx, act.By, act.Signer)
}

// first makes the first code of a ledger.
func first(ctx context.Context, a *cli.App, log *audit.Store) (string, error) {
	by, err := beginner(a, log)
	if err == nil {
		err = log.CheckFingerprint()
	}
	if err != nil {
		return "", err
	}
	return set(ctx, a.Stderr, log, by)
}

// set makes the first code of a ledger, and accepts with it the person's own policy as it is.
func set(ctx context.Context, w io.Writer, log *audit.Store, by string) (secret string, err error) {
	own, codes := OwnAtFirst(w, log), &code.Store{Log: log}
	if secret, err = codes.Set(ctx, by, nil); err != nil {
		return "", err
	}
	if err := AcceptFirst(ctx, own, codes, secret, by); err != nil { // the code must be shown nevertheless
		fmt.Fprintf(w, "Your own policy is not accepted: %s; run `reviewer policy accept`\n", cli.Masked(err.Error()))
	}
	return secret, nil
}

// beginner returns the person who may make a first code: at a terminal of their own, while no agent can act.
func beginner(a *cli.App, log *audit.Store) (string, error) {
	by, err := a.Person(making)
	if err != nil {
		return "", err
	}
	session, err := cli.LivingSession(log, time.Now().UnixMilli())
	switch {
	case err != nil:
		return "", err
	case session != "":
		return "", fmt.Errorf("%s needs a time in which no agent works, and session %s was active in the last 10 minutes: "+
			"end it, wait until then, and run the command again", making, session)
	}
	return by, nil
}

// Lost makes a first code where one was lost: the state directory is moved aside, and its stops hold in the new one. The
// person reads that before, and agrees.
func Lost(ctx context.Context, a *cli.App, log *audit.Store) (secret string, err error) {
	by, err := beginner(a, log)
	if err != nil {
		return "", err
	}
	stops, err := stopsOf(a, log)
	if err != nil {
		return "", err
	}
	aside, err := asideOf(log.Dir, time.Now())
	if err != nil {
		return "", err
	}
	fmt.Fprintf(a.Stderr, "%s is moved to %s, and a new one begins with a new approval code.\n"+
		"What was allowed there no longer counts; its log can be read with --home. Stopped sessions stay stopped: %d.\n%s"+
		"Hooks know the old key until `reviewer install AGENT` is run again, for each agent.\nType lost to go on: ",
		log.Dir, aside, len(stops), listed("Not taken over: ", Found(log.Dir)))
	line, err := bufio.NewReader(a.Stdin).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "lost" {
		return "", fmt.Errorf("nothing was changed, since `lost` was not typed")
	}
	return begin(ctx, log, aside, stops, by)
}

// begin moves a state directory aside, and puts in its place one with a new code in which sessions are stopped. That one
// is complete before, so that a stop holds at any time.
func begin(ctx context.Context, log *audit.Store, aside string, stops []audit.StoppedChain, by string) (secret string, err error) {
	fresh := &audit.Store{Dir: log.Dir + ".new", Env: log.Env}
	if err := os.RemoveAll(fresh.Dir); err != nil { // of an attempt that was killed
		return "", err
	}
	if err := fresh.Carry(ctx, stops); err != nil {
		return "", fmt.Errorf("record the stops: %w", err)
	}
	if secret, err = set(ctx, io.Discard, fresh, by); err != nil {
		return "", err
	}
	if err := os.Rename(log.Dir, aside); err != nil {
		return "", fmt.Errorf("move the state directory aside: %w", err)
	}
	if err := os.Rename(fresh.Dir, log.Dir); err != nil {
		return "", fmt.Errorf("%w: the earlier state directory is %s, the new one %s", err, aside, fresh.Dir)
	}
	return secret, nil
}

// stopsOf lists the sessions that are stopped, in the view of any hook: a stop that only a key of somebody else ended is one.
func stopsOf(a *cli.App, log *audit.Store) ([]audit.StoppedChain, error) {
	pins, err := Pins(a, log.Dir)
	if err != nil {
		return nil, err
	}
	keys := []string{"", log.Fingerprint}
	for _, pin := range pins {
		keys = append(keys, pin.Key)
	}
	slices.Sort(keys)
	var list []audit.StoppedChain
	for _, key := range slices.Compact(keys) {
		stops, err := (&audit.Store{Dir: log.Dir, Fingerprint: key}).Stopped()
		if err != nil {
			return nil, err
		}
		for _, stop := range stops {
			known := func(c audit.StoppedChain) bool { return c.Key == stop.Key }
			if stop.Resumed == "" && !slices.ContainsFunc(list, known) {
				list = append(list, stop)
			}
		}
	}
	return list, nil
}

// asideOf returns the name to which a state directory is moved.
func asideOf(dir string, now time.Time) (string, error) {
	first := dir + cli.Aside + now.Format("2006-01-02")
	name := first
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			if os.IsNotExist(err) {
				err = nil
			}
			return name, err
		}
		name = fmt.Sprintf("%s-%d", first, n)
	}
}

// Found lists what in a state directory decides what agents may do, for a person who did not put it there.
func Found(dir string) []string {
	var list []string
	for _, one := range []struct{ name, what string }{
		{"policy", "policy and settings, with the addresses of notifications"}, {trust.FileName, "keys that sign policy"},
		{"bundles", "policies that were activated"},
	} {
		if _, err := os.Lstat(filepath.Join(dir, one.name)); err == nil {
			list = append(list, filepath.Join(dir, one.name)+" ("+one.what+")")
		}
	}
	return list
}

// listed is a line with a list; empty if there is nothing.
func listed(head string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return head + strings.Join(list, ", ") + ".\n"
}
