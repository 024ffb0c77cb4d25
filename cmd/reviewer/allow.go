package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/approvalscmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/explaincmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/sessioncmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/spf13/cobra"
)

func allowCommand(a *cli.App) *cobra.Command {
	var once, session, each bool
	var reason string
	var out term.Output
	id := cli.Argument{Name: "ID", What: "the id of a call as `reviewer denials` lists it, such as f8dc9b3b-35"}
	cmd := &cobra.Command{
		Use:   "allow ID --once | --session, allow --each",
		Short: "Allow one call that was held up; needs a person at a terminal, and their approval code",
		Long: "ID is the record of a call that was asked about, modified or blocked, as\n" +
			"`reviewer denials` lists it. Exactly that call is allowed: the same arguments to\n" +
			"the same tool in the same directory, by any agent of the session.\n" +
			"It overrides neither a stopped session nor rules that always apply.\n\n" +
			"With --each, the calls that can be allowed are shown one after another, and the code is asked for only\n" +
			"once. Keys: o allows once, s for the session, n shows the next call, q quits. After o and s, type the two\n" +
			"characters that are shown next to them; `reviewer approvals watch` describes them.",
		Example: "  reviewer allow f8dc9b3b-35 --once --reason 'the branch is mine'\n  reviewer allow --each",
		Args: func(cmd *cobra.Command, args []string) error {
			if each {
				return cli.AtMost(0)(cmd, args)
			}
			return cli.Needs(id)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if each {
				if once || session || reason != "" || out.Format == "json" || out.File != "" {
					return cli.Usage("--each asks about each call: give it without ID and other flags")
				}
				return allowEach(cmd.Context(), a)
			}
			do, err := howLong(once, session)
			if err != nil {
				return err
			}
			return allow(cmd.Context(), a, &out, args[0], engine.Control{Do: do, Reason: reason})
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().BoolVar(&once, "once", false, "allow the call the next time it is made")
	cmd.Flags().BoolVar(&session, "session", false, "allow the call every time until the session ends")
	cmd.Flags().BoolVar(&each, "each", false, "show the calls that can be allowed one after another")
	cmd.Flags().StringVar(&reason, "reason", "", "reason to record in the log")
	return cmd
}

// allowedDocument is the call that a person allowed.
type allowedDocument struct {
	Record  string `json:"record"`
	Session string `json:"session"`
	Once    bool   `json:"once"` // false: until the session ends
	Reason  string `json:"reason,omitempty"`
	By      string `json:"by"`
}

func howLong(once, session bool) (string, error) {
	switch {
	case once && session:
		return "", cli.Usage("--once and --session exclude each other: give one of them")
	case once:
		return engine.ControlAllowOnce, nil
	case session:
		return engine.ControlAllowSession, nil
	}
	return "", cli.Usage("give --once for the next time the call is made, or --session until the session ends")
}

// allowEach asks a person about each call that can be allowed, and prints what they did.
func allowEach(ctx context.Context, a *cli.App) error {
	done, err := approvalscmd.Each(ctx, a, overrides())
	for _, line := range done {
		fmt.Fprintln(a.Stdout, line)
	}
	if err == nil && len(done) == 0 {
		fmt.Fprintln(a.Stdout, "no calls were allowed")
	}
	return err
}

// overrides are the manual overrides that `reviewer approvals watch` and `reviewer allow --each` offer.
func overrides() approvalscmd.Overrides {
	return approvalscmd.Overrides{HeldUp: heldUpCall, Denied: stillDenied, Resume: sessioncmd.Resume,
		Allow: func(ctx context.Context, a *cli.App, log *audit.Store, s audit.Session, r *engine.Record, session bool, act *signed.Act) error {
			choice := engine.Control{Do: engine.ControlAllowOnce}
			if session {
				choice.Do = engine.ControlAllowSession
			}
			choice = choiceAbout(r, choice)
			if err := decideAllowed(ctx, a, log, s, r, choice); err != nil {
				return err
			}
			return recordAllowed(ctx, log, s, r, &choice, act)
		}}
}

// stillDenied returns those of a session's calls that were held up which can be allowed, and are not allowed yet.
func stillDenied(store *audit.Store, s audit.Session, calls []*engine.Record) ([]*engine.Record, error) {
	h, err := store.State(s)
	if err != nil {
		return nil, err
	}
	var list []*engine.Record
	for _, r := range calls {
		if allowable(s, r) == nil && history.NewInput(r, h, engine.View{}).Session.Allowed == "" {
			list = append(list, r)
		}
	}
	return list, nil
}

// choiceAbout returns a choice about the call of a record.
func choiceAbout(r *engine.Record, choice engine.Control) engine.Control {
	key, _ := r.CallKey()
	choice.Record, choice.Print, choice.CWD = r.ID(), key.Print, key.CWD
	return choice
}

// recordAllowed records that a person allowed a call.
func recordAllowed(
	ctx context.Context, store *audit.Store, s audit.Session, r *engine.Record, choice *engine.Control, act *signed.Act,
) (err error) {
	choice.By = act.By
	if choice.Signed, err = expiry(store, s.Workspace, choice.Do); err != nil {
		return err
	}
	return store.ControlIf(ctx, s.Key, *choice, act.Signer, func(h *history.State) error { return checkExtends(h, r, *choice) })
}

// allow shows a person the call that they allow, and records the override. Their code is the
// confirmation.
func allow(ctx context.Context, a *cli.App, out *term.Output, id string, choice engine.Control) error {
	store, s, r, err := heldUp(a, id)
	if err != nil {
		return err
	}
	if choice.Reason, err = cli.WithoutSecrets(store, choice.Reason); err != nil {
		return err
	}
	choice = choiceAbout(r, choice)
	if err := decideAllowed(ctx, a, store, s, r, choice); err != nil {
		return err
	}
	act, err := signed.Ask(ctx, a, store, "allowing a call")
	if err != nil {
		return err
	}
	defer act.Signer.Wipe()
	if err := recordAllowed(ctx, store, s, r, &choice, act); err != nil {
		return err
	}
	d := allowedDocument{r.ID(), s.Key.Session, choice.Do == engine.ControlAllowOnce, choice.Reason, choice.By}
	return out.Result(a.Stdout, d, func(w io.Writer) { showAllowed(w, a.Paint(out), r, choice) })
}

// expiry returns when a permission for one call expires that is not used.
func expiry(store *audit.Store, workspace, do string) (*engine.Signature, error) {
	if do != engine.ControlAllowOnce {
		return nil, nil
	}
	e, err := cli.MachineAt(store.Dir).Effective(workspace)
	if err != nil {
		return nil, fmt.Errorf("load policy: %w", err)
	}
	return &engine.Signature{Expires: time.Now().Add(time.Duration(e.Settings.Overrides.Expires) * time.Minute).UnixMilli()}, nil
}

// heldUp finds the call that a person names. It accepts only a record's own id:
// the meaning of `last` may change while they type.
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

// allowable returns an error if a manual override of a record would have no effect.
func allowable(s audit.Session, r *engine.Record) error {
	effect := engine.AnswerOf(r).Effect
	_, known := r.CallKey()
	switch {
	case s.Stopped != nil:
		return fmt.Errorf("session %s is stopped (%s): `reviewer session resume %s` first", s.Key.Session,
			term.OneLine(s.Stopped.Reason, 120), s.Key.Session)
	case r.Kind != engine.KindPre:
		return fmt.Errorf("record %s is not a call but of kind %s: "+
			"give the id that `reviewer denials` lists; `reviewer audit show %s` lists the calls",
			r.ID(), r.Kind, s.Key.Session)
	case r.Answer != nil && r.Answer.Mode == engine.ModeDegraded:
		return fmt.Errorf("no rule held up call %s: it could not be reviewed (%s); run `reviewer doctor` for details", r.ID(),
			term.OneLine(r.Answer.Failure, 300))
	case effect == engine.Allow || effect == engine.Warn:
		return fmt.Errorf("call %s was not held up: the answer was %s", r.ID(), effect)
	case r.Decision == nil || !known:
		return fmt.Errorf("call %s would not be recognised if it were made again: its record lacks identifying details", r.ID())
	}
	return nil
}

// decideAllowed asks the active policy what it would answer to the call with the manual
// override. So the policy alone decides which rules an override does not relax, and no call is
// reported as allowed when it is not.
func decideAllowed(ctx context.Context, a *cli.App, store *audit.Store, s audit.Session, r *engine.Record, choice engine.Control) error {
	again := *r
	again.T = time.Now().UnixMilli()
	after, err := withOverride(ctx, store, s, &again, choice)
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

// withOverride returns the session's state as it would be with a manual override.
func withOverride(
	ctx context.Context, store *audit.Store, s audit.Session, r *engine.Record, choice engine.Control,
) (*history.State, error) {
	var after *history.State
	err := store.Update(ctx, s.Key, func(t history.Tail) (err error) {
		if err := checkExtends(t.History, r, choice); err != nil {
			return err
		}
		after, err = t.History.Assuming(choice)
		return err
	})
	return after, err
}

// checkExtends refuses an override that adds nothing to an earlier one.
func checkExtends(h *history.State, r *engine.Record, choice engine.Control) error {
	before := history.NewInput(r, h, engine.View{}).Session
	if before.Allowed == "" || extends(before.Allowed, choice.Do) {
		return nil
	}
	return fmt.Errorf("call %s is allowed already (%s, by %s)", r.ID(), before.Allowed, before.AllowedBy)
}

// extends reports whether a choice extends an existing allowance.
func extends(allowed, do string) bool {
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
	return fmt.Errorf("a manual override cannot allow call %s, and the answer would still be %s (%s): do it yourself in a "+
		"terminal, or change the rule", id, d.Enforced, term.OneLine(by, 300))
}

// showAllowed prints which call a person allowed, and the consequences.
func showAllowed(w io.Writer, p term.Paint, r *engine.Record, choice engine.Control) {
	word, what, _ := explaincmd.Summary(r)
	fmt.Fprintf(w, "%s  %s  %s\n%s\n", r.ID(), term.Clock(r.T), p.Verdict(word), term.OneLine(what, 400))
	for _, reason := range r.Decision.Reasons {
		fmt.Fprintf(w, "  - %s\n", term.OneLine(reason, 300))
	}
	if len(r.Decision.Rules) > 0 {
		fmt.Fprintf(w, "  rules: %s\n", strings.Join(r.Decision.RuleIDs(), ", "))
	}
	explaincmd.ExplainAction(w, "Effects", r.Action)
	fmt.Fprintf(w, "  %s\n", undoing(r.Decision.SideEffects))
	showUnseen(w, r)
	span := "once: the next time this call is made"
	if choice.Do == engine.ControlAllowSession {
		span = "until the session ends: every time this call is made"
	}
	fmt.Fprintf(w, "\nAllowed by %s %s,\nwith the same arguments in %s. Any other call is reviewed as before.\n", choice.By,
		span, term.OneLine(choice.CWD, 200))
	if choice.Signed != nil {
		fmt.Fprintf(w, "If it is not used, it expires at %s (overrides.expires).\n", term.Clock(choice.Signed.Expires))
	}
	fmt.Fprintf(w, "The agent may try again; `reviewer audit why %s` shows the outcome.\n", r.ID())
}

// showUnseen names the parts of the call that are not shown here.
func showUnseen(w io.Writer, r *engine.Record) {
	for _, name := range slices.Sorted(maps.Keys(r.Action.Contents)) {
		fmt.Fprintf(w, "  %s: %d bytes, not kept in the log\n", name, r.Action.Contents[name].Bytes)
	}
	for _, c := range r.Cut {
		fmt.Fprintf(w, "  %s: shortened, %d in all\n", c.Field, c.Bytes)
	}
}

func undoing(e *engine.SideEffects) string {
	switch {
	case e == nil:
		return "may not be reversible"
	case e.Reversible:
		return "can be undone"
	}
	return "cannot be undone"
}
