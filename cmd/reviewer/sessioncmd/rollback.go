package sessioncmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/checkpointcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/incident"
	"github.com/spf13/cobra"
)

func sessionRollbackCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var limits, supervise bool
	cmd := &cobra.Command{
		Use:   "rollback ID",
		Short: "Restore a stopped session's files to their state before the trouble began, and resume it; needs a person at a terminal",
		Long: "Restores the files of the workspace to the newest checkpoint of the session before the first\n" +
			"failure or denial that led to the stop, and resumes the session; the agent is informed at its next call.\n" +
			"Before anything changes, the command lists the files that would be created, changed and deleted, and asks\n" +
			"whether to restore them; any answer but y or yes leaves the files and the session unchanged.\n" +
			"Of the checkpoints from before that failure, it considers the newest (interventions.max_rollback_depth\n" +
			"sets how many), and skips those that do not meet interventions.safe_checkpoint_criteria; reviewer\n" +
			"checkpoint restore can restore any. If there is none, if it cannot be restored, or if the files already\n" +
			"match it, the session stays stopped, and the alternatives are listed.\n" +
			"A session that is not stopped can be rolled back if policy proposed it (interventions.auto_rollback false).\n\n" +
			"Exit codes: 0 rolled back and resumed, 1 not rolled back, 3 usage error.",
		Example: "  reviewer session rollback last\n  reviewer session rollback last --supervise",
		Args:    cli.Needs(cli.SessionID()),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, s, err := a.Session(args[0])
			if err != nil {
				return err
			}
			offered, err := offer(store, s)
			if err != nil {
				return err
			}
			if err := stopped(s); err != nil && (offered == "" || s.Stopped != nil) {
				return err
			}
			act, err := signed.Ask(cmd.Context(), a, store, "rolling a session back")
			if err != nil {
				return err
			}
			defer act.Signer.Wipe()
			d := rollbackDocument{Session: s.Key.Session, By: act.By, Stopped: s.Stopped != nil, Plan: []string{}}
			if !d.Stopped {
				d.offered = offered
			}
			if err := d.run(cmd.Context(), a, store, s, conditions(limits, supervise), act.Signer); err != nil {
				return err
			}
			if err := out.Result(a.Stdout, d, d.print); err != nil || d.RolledBack {
				return err
			}
			return fmt.Errorf("session %s was not rolled back%s: %s", d.Session, map[bool]string{true: " and stays stopped"}[d.Stopped], d.Reason)
		},
	}
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().BoolVar(&limits, "limits", false, "resume it with lower limits, as session resume does")
	cmd.Flags().BoolVar(&supervise, "supervise", false, "resume it so that every call that does more than read is asked about")
	cmd.MarkFlagsMutuallyExclusive("limits", "supervise")
	return cmd
}

// stopped reports why a session cannot be rolled back as a recovery from a stop.
func stopped(s audit.Session) error {
	switch {
	case s.Stopped == nil:
		return fmt.Errorf("session %s is not stopped; `reviewer checkpoint restore` restores its files", s.Key.Session)
	case s.Stopped.Final:
		return fmt.Errorf("session %s was aborted by %s, which is final; `reviewer checkpoint restore` restores its files",
			s.Key.Session, s.Stopped.By)
	}
	return nil
}

// rollbackDocument reports whether a session was rolled back, and otherwise what can be done.
type rollbackDocument struct {
	Session    string                  `json:"session"`
	RolledBack bool                    `json:"rolled_back"`
	Stopped    bool                    `json:"stopped"`
	Resumed    string                  `json:"resumed,omitempty"`  // conditions: limits, supervise
	Began      string                  `json:"began,omitempty"`    // when the first sign of what led to the stop was
	Restored   *checkpointcmd.Restored `json:"restored,omitempty"` // absent: nothing was restored
	Reason     string                  `json:"reason,omitempty"`   // why it was not rolled back
	Plan       []string                `json:"plan"`               // what can be done instead
	By         string                  `json:"by"`

	offered string // checkpoint that policy chose; empty: the session is stopped
}

// offer returns the checkpoint of the latest rollback that policy left to a person, unless
// a person has restored files since.
func offer(store *audit.Store, s audit.Session) (id string, err error) {
	for r, err := range store.Records(s.Key, 0) {
		switch {
		case err != nil:
			return "", err
		case r.Kind == engine.KindControl && r.Control.Do == engine.ControlRestore:
			id = ""
		case r.Decision != nil && r.Decision.Intervention.Offered() != "":
			id = r.Decision.Intervention.Offered()
		}
	}
	return id, nil
}

// run rolls a session back, or fills in why not.
func (d *rollbackDocument) run(
	ctx context.Context, a *cli.App, store *audit.Store, s audit.Session, mode string, signer audit.Signer,
) error {
	var began int64
	if d.Stopped {
		var err error
		if began, err = runUp(store, s); err != nil {
			return err
		}
		d.Began = term.Time(began)
	}
	restored, err := checkpointcmd.RollBack(ctx, a, s, began, d.offered, d.By)
	if unsuitable := (*checkpointcmd.Unsuitable)(nil); errors.As(err, &unsuitable) {
		d.Reason = cli.Masked(unsuitable.Reason)
		d.Plan = recovery(s)
		return nil
	}
	if err != nil {
		return err
	}
	if len(restored.Changes) == 0 {
		d.Reason = "the files already match checkpoint " + restored.To + ", so nothing was restored"
		d.Plan = recovery(s)
		return nil
	}
	d.Restored = &restored
	if !d.Stopped {
		d.RolledBack = true
		return nil
	}
	if err := store.Control(ctx, s.Key, engine.Control{Do: engine.ControlResume, By: d.By, Mode: mode}, signer); err != nil {
		return fmt.Errorf("the files are restored, but the session is still stopped: %w", err)
	}
	d.RolledBack, d.Stopped, d.Resumed = true, false, mode
	return nil
}

// runUp returns when what led to the stop of a session began: the first sign of the incident that stopped
// it, or, if a person stopped it, the first of the consecutive failures and denials before the stop. A
// call that failed began to change files before it was known to fail.
func runUp(store *audit.Store, s audit.Session) (int64, error) {
	list, err := incident.Read(store.Records(s.Key, 0))
	if err != nil {
		return 0, err
	}
	if len(list) > 0 && list[len(list)-1].Stopped {
		last := list[len(list)-1]
		return last.At() - last.Duration, nil
	}
	var at, began int64
	calls := map[string]int64{}
	for r, err := range store.Records(s.Key, 0) {
		if err != nil {
			return 0, err
		}
		if r.N > s.Stopped.N {
			break
		}
		if r.Kind == engine.KindPre && r.Call != "" {
			calls[r.Call] = r.T
		}
		switch at = r.T; trouble(r) {
		case bad:
			began = cmp.Or(began, calls[r.Call], r.T)
		case good:
			began = 0
		}
	}
	return cmp.Or(began, at), nil
}

// outcome describes the progress of the work according to a record.
type outcome int

const (
	neither outcome = iota
	good
	bad
)

func trouble(r *engine.Record) outcome {
	switch {
	case r.Kind == engine.KindControl && r.Control.Do == engine.ControlResume:
		return good // what was before does not count
	case r.Kind == engine.KindPre && engine.AnswerOf(r).Effect == engine.Block:
		return bad
	case r.Kind != engine.KindPost || r.Event == nil || r.Event.Result == nil:
		return neither
	case r.Event.Result.Outcome == engine.OutcomeFailed:
		return bad
	}
	return good
}

// recovery lists what can be done for a session that cannot be rolled back.
func recovery(s audit.Session) []string {
	id := s.Key.Session
	return []string{
		"reviewer checkpoint list --session " + id + " lists its checkpoints; reviewer checkpoint diff ID now shows what has changed since",
		"reviewer checkpoint restore ID PATH restores single files; with --force also those that others changed",
		"reviewer session show " + id + " lists what it changed; git status and git diff in its workspace show what is not committed",
		"reviewer session resume " + id + " --supervise lets it repair its own work, step by step",
		"reviewer session abort " + id + " ends it, and lists what it leaves behind",
	}
}

func (d rollbackDocument) print(w io.Writer) {
	if !d.RolledBack {
		fmt.Fprintf(w, "session %s was not rolled back: %s\n\nalternatives:\n", d.Session, term.OneLine(d.Reason, 1000))
		for _, step := range d.Plan {
			fmt.Fprintf(w, "  - %s\n", step)
		}
		return
	}
	d.Restored.Text(w)
	if d.offered != "" {
		fmt.Fprintf(w, "session %s continues; the agent is informed at its next call that files were restored\n", d.Session)
		return
	}
	fmt.Fprintf(w, "session %s is resumed%s; the agent is informed at its next call that files were restored\n", d.Session,
		map[string]string{engine.ResumeLimits: " with limits", engine.ResumeSupervise: " under supervision"}[d.Resumed])
}
