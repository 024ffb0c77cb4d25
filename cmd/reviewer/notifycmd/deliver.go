package notifycmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/spf13/cobra"
)

// longest is the maximum time for which a process delivers; the next process delivers
// the rest.
const longest = time.Hour

func deliverCommand(a *cli.App) *cobra.Command {
	var once, retry bool
	cmd := &cobra.Command{
		Use:   "deliver",
		Short: "Deliver pending notifications; started automatically after a stop, and when an action waits for approval",
		Long: "Adds a notification for each stop of the last day that has none yet, sends each to all channels\n" +
			"for stops, and retries with increasing delays until each channel has accepted it or every attempt\n" +
			"has failed. Questions that wait for an answer are sent to the channels for approvals.\n" +
			"Custom interventions of the organisation are delivered in the same way. The\n" +
			"result is recorded in the machine's ledger (`reviewer audit show --ledger`).",
		Example: "  reviewer notify deliver\n  reviewer notify deliver --retry",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), longest)
			defer cancel()
			d, err := newDeliverer(ctx, a)
			if err != nil {
				return err
			}
			d.Retry = retry
			err = run(ctx, d, once)
			if errors.Is(err, context.DeadlineExceeded) && a.Detach != nil && d.Spool.Waiting() {
				return a.Detach("--home", filepath.Dir(d.Spool.Dir), "notify", "deliver", "--once") // a request does not wait for the next one
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&retry, "retry", false, "also retry deliveries that have failed")
	cmd.Flags().BoolVar(&once, "once", false, "exit immediately if another process is delivering, instead of waiting for it")
	return cmd
}

func newDeliverer(ctx context.Context, a *cli.App) (*notify.Deliverer, error) {
	store, err := a.OpenStore()
	if err != nil {
		return nil, err
	}
	to, err := configuration(a, store.Dir)
	if err != nil {
		return nil, err
	}
	d := &notify.Deliverer{Spool: spoolOf(store), Channels: to.channels, Own: to.own, Plan: to.plan, When: to.when,
		Mask: cli.Masked}
	d.Ended = func(e notify.Entry, delivery notify.Delivery) { note(ctx, store, e, delivery) }
	// Readable entries are delivered anyway.
	if err := putAll(store, d, time.Now()); err != nil {
		fmt.Fprintln(a.Stderr, "reviewer:", cli.Masked(err.Error()))
	}
	return d, nil
}

// putAll adds the notifications and interventions in the log.
func putAll(store *audit.Store, d *notify.Deliverer, now time.Time) error {
	var errs []error
	if d.Takes(notify.KindStop) {
		errs = append(errs, putStops(store, d.Spool, now))
	}
	if len(d.Own) > 0 {
		errs = append(errs, putOwn(store, d, now))
	}
	return errors.Join(errs...)
}

func run(ctx context.Context, d *notify.Deliverer, once bool) error {
	for {
		err := d.Run(ctx)
		if !errors.Is(err, notify.ErrBusy) {
			return err
		}
		if once {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// note records the result of a delivery in the ledger.
func note(ctx context.Context, store *audit.Store, e notify.Entry, d notify.Delivery) {
	detail := fmt.Sprintf("%s: %s to channel %s after %s", e.ID, d.Status, d.Channel, term.Counted(len(d.Attempts), "attempt", "attempts"))
	if e.Own != "" {
		detail += exitText(d)
	}
	if n := len(d.Attempts); d.Status == notify.Failed && n > 0 {
		detail += term.After(": ", cli.Masked(d.Attempts[n-1].Error))
	}
	// If the ledger cannot be written, `reviewer notify list` still has the result.
	_ = store.Note(ctx, engine.Note{What: "notification", Detail: detail})
}
