package main

import (
	"iter"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

func (a *app) auditCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read, verify, replay and export the log",
		Long: "ID is a session's id or a prefix of it, a record's id as a denial names it, or last.\n" +
			"Exit codes: 0 fine, 1 could not run, 2 findings (a broken chain, a difference).",
	}
	return group(cmd,
		a.auditShowCommand(), a.auditTailCommand(), a.auditWhyCommand(), a.auditVerifyCommand(),
		a.auditReplayCommand(), a.auditReconcileCommand(), a.auditStatsCommand(), a.auditSealCommand(), a.auditExportCommand(), a.auditCaseCommand(),
	)
}

// chosen opens the log and returns the sessions that the arguments name, all of
// them where there are none.
func (a *app) chosen(selectors []string) (*audit.Store, []audit.Session, error) {
	store, err := a.openStore()
	if err != nil {
		return nil, nil, err
	}
	if len(selectors) == 0 {
		sessions, err := store.Sessions()
		return store, sessions, err
	}
	var list []audit.Session
	for _, selector := range selectors {
		_, s, err := a.session(selector)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, s)
	}
	return store, list, nil
}

// recordsOf iterates over the records of several sessions, one after the other.
func recordsOf(store *audit.Store, sessions []audit.Session) iter.Seq2[*engine.Record, error] {
	return func(yield func(*engine.Record, error) bool) {
		for _, s := range sessions {
			for r, err := range store.Records(s.Key, 0) {
				if !yield(r, err) {
					return
				}
			}
		}
	}
}
