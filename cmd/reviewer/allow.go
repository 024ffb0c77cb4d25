package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/spf13/cobra"
)

func allowCommand(a *cli.App) *cobra.Command {
	var once, session bool
	var reason string
	cmd := &cobra.Command{
		Use:   "allow ID --once | --session",
		Short: "Allow one call that was held up; needs a person at a terminal",
		Long: "ID is the record of a call that was asked about, put in another form or blocked,\n" +
			"as `reviewer denials` lists it. What is allowed is that call and no other: the same\n" +
			"arguments to the same tool, in the same directory, by any agent of the session.\n" +
			"It says nothing against a stop, nor against rules that always hold.",
		Example: "  reviewer allow f8dc9b3b-35 --once --reason 'the branch is mine'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			do, err := howLong(once, session)
			if err != nil {
				return err
			}
			who, err := a.Person("allowing a call")
			if err != nil {
				return err
			}
			return allow(cmd.Context(), a, args[0], engine.Control{Do: do, Reason: reason, By: who})
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "the next time that the call is made")
	cmd.Flags().BoolVar(&session, "session", false, "each time, until the session ends")
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the log")
	return cmd
}

func howLong(once, session bool) (string, error) {
	switch {
	case once && session:
		return "", errors.New("--once and --session exclude each other: say one of them")
	case once:
		return engine.ControlAllowOnce, nil
	case session:
		return engine.ControlAllowSession, nil
	}
	return "", errors.New("say for how long: --once for the next time that the call is made, or --session until the session ends")
}

// allow shows a person the call that they allow, and records their word. The
// command itself is the word: nothing more is asked.
func allow(ctx context.Context, a *cli.App, id string, choice engine.Control) error {
	store, s, r, err := heldUp(a, id)
	if err != nil {
		return err
	}
	if choice.Reason, err = cli.WithoutSecrets(store, choice.Reason); err != nil {
		return err
	}
	key, _ := r.CallKey()
	choice.Record, choice.Print, choice.CWD = r.ID(), key.Print, key.CWD
	if err := rehearse(ctx, a, store, s, r, choice); err != nil {
		return err
	}
	err = store.ControlIf(ctx, s.Key, choice, func(h *history.State) error { return adds(h, r, choice) })
	if err != nil {
		return err
	}
	showAllowed(a.Stdout, a.Paint(&term.Output{}), r, choice)
	return nil
}

// heldUp finds the call that a person names. Only a record's own id will do:
// what `last` stands for may change while they type.
func heldUp(a *cli.App, id string) (*audit.Store, audit.Session, *engine.Record, error) {
	store, s, err := a.Session(id)
	if err != nil {
		return nil, s, nil, err
	}
	r, err := store.Find(id)
	if err != nil {
		return nil, s, nil, fmt.Errorf("%w: give the id that `reviewer denials` lists; `reviewer audit show %s` lists the calls",
			err, s.Key.Session)
	}
	return store, s, r, allowable(s, r)
}

// allowable says why a person's word about a record would mean nothing.
func allowable(s audit.Session, r *engine.Record) error {
	effect := engine.AnswerOf(r).Effect
	_, known := r.CallKey()
	switch {
	case s.Stopped != nil:
		return fmt.Errorf("session %s is stopped (%s): `reviewer session resume %s` first", s.Key.Session,
			term.OneLine(s.Stopped.Reason, 120), s.Key.Session)
	case r.Kind != engine.KindPre:
		return fmt.Errorf("record %s is no call but of kind %s: "+
			"give the id that `reviewer denials` lists; `reviewer audit show %s` lists the calls",
			r.ID(), r.Kind, s.Key.Session)
	case r.Answer != nil && r.Answer.Mode == engine.ModeDegraded:
		return fmt.Errorf("no rule held call %s up: it could not be reviewed (%s); `reviewer doctor` tells more", r.ID(),
			term.OneLine(r.Answer.Failure, 300))
	case effect == engine.Allow || effect == engine.Warn:
		return fmt.Errorf("call %s was not held up: the answer was %s", r.ID(), effect)
	case r.Decision == nil || !known:
		return fmt.Errorf("call %s could not be recognised when it is made again: its record does not hold all that tells it from others", r.ID())
	}
	return nil
}

// rehearse asks the policy that holds now what it would answer to the call once
// the person has spoken. So policy alone says which rules a word does not
// soften, and nobody is told that something is allowed which is not.
func rehearse(ctx context.Context, a *cli.App, store *audit.Store, s audit.Session, r *engine.Record, choice engine.Control) error {
	again := *r
	again.T = time.Now().UnixMilli()
	after, err := suppose(ctx, store, s, &again, choice)
	if err != nil {
		return err
	}
	p, err := activePolicy(ctx, a, s.Workspace)
	if err != nil {
		return fmt.Errorf("load policy: %w", err)
	}
	v, err := p.Review(ctx, &again, after)
	if err != nil {
		return fmt.Errorf("review call %s again: %w", r.ID(), err)
	}
	return stillHeldUp(r.ID(), &v.Decision)
}

// suppose returns the session's state as it would be after a person's word.
func suppose(ctx context.Context, store *audit.Store, s audit.Session, r *engine.Record, choice engine.Control) (*history.State, error) {
	var after *history.State
	err := store.Update(ctx, s.Key, func(t history.Tail) (err error) {
		if err := adds(t.History, r, choice); err != nil {
			return err
		}
		after, err = t.History.After(&engine.Record{Kind: engine.KindControl, N: t.History.N + 1, T: r.T, Control: &choice})
		return err
	})
	return after, err
}

// adds refuses a word that adds nothing to an earlier one.
func adds(h *history.State, r *engine.Record, choice engine.Control) error {
	before := history.NewInput(r, h, engine.View{}).Session
	if before.Allowed == "" || longer(before.Allowed, choice.Do) {
		return nil
	}
	return fmt.Errorf("call %s is allowed already (%s, by %s)", r.ID(), before.Allowed, before.AllowedBy)
}

// longer says that a choice goes beyond what is allowed already.
func longer(allowed, do string) bool {
	return allowed == engine.AllowedOnce && do == engine.ControlAllowSession
}

func stillHeldUp(id string, d *engine.Decision) error {
	if d.Enforced.Strictness() <= engine.Warn.Strictness() {
		return nil
	}
	by := d.Reason
	if len(d.Rules) > 0 {
		by = strings.Join(d.RuleIDs(), ", ") + ": " + d.Rules[0].Message
	}
	return fmt.Errorf("a person's word does not soften what holds call %s up, and the answer would still be %s (%s): do it yourself in a "+
		"terminal, or have the rule changed", id, d.Enforced, term.OneLine(by, 300))
}

// showAllowed prints what a person allowed, and what that means.
func showAllowed(w io.Writer, p term.Paint, r *engine.Record, choice engine.Control) {
	word, what, _ := explaincmd.Summary(r)
	fmt.Fprintf(w, "%s  %s  %s\n%s\n", r.ID(), term.Clock(r.T), p.Verdict(word), term.OneLine(what, 400))
	for _, reason := range r.Decision.Reasons {
		fmt.Fprintf(w, "  - %s\n", term.OneLine(reason, 300))
	}
	if len(r.Decision.Rules) > 0 {
		fmt.Fprintf(w, "  rules: %s\n", strings.Join(r.Decision.RuleIDs(), ", "))
	}
	explaincmd.ExplainAction(w, "What it would do", r.Action)
	fmt.Fprintf(w, "  %s\n", undoing(r.Decision.SideEffects))
	showUnseen(w, r)
	span := "once: the next time that this call is made"
	if choice.Do == engine.ControlAllowSession {
		span = "until the session ends: each time that this call is made"
	}
	fmt.Fprintf(w, "\nAllowed by %s %s,\nwith the same arguments in %s. Any other call is reviewed as before.\n", choice.By,
		span, term.OneLine(choice.CWD, 200))
	fmt.Fprintf(w, "The agent may try again; `reviewer audit why %s` tells what became of it.\n", r.ID())
}

// showUnseen names what a person allows without seeing it here.
func showUnseen(w io.Writer, r *engine.Record) {
	for _, name := range slices.Sorted(maps.Keys(r.Action.Contents)) {
		fmt.Fprintf(w, "  %s: %d bytes, which the log does not keep\n", name, r.Action.Contents[name].Bytes)
	}
	for _, c := range r.Cut {
		fmt.Fprintf(w, "  %s: shortened, %d in all\n", c.Field, c.Bytes)
	}
}

func undoing(e *engine.SideEffects) string {
	switch {
	case e == nil:
		return "whether it can be undone is not known"
	case e.Reversible:
		return "it can be undone"
	}
	return "it cannot be undone"
}
