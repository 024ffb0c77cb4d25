package notifycmd

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/spf13/cobra"
)

func listCommand(a *cli.App) *cobra.Command {
	var out term.Output
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List notifications: the channels they were delivered to, failures, and questions that were shown to nobody",
		Example: "  reviewer notify list\n  reviewer notify list -f json",
		Args:    cli.AtMost(0),
		RunE: func(*cobra.Command, []string) error {
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			items, err := spoolOf(store).List()
			if err != nil && len(items) == 0 {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return errors.Join(writeItems(a, w, &out, items), err) })
		},
	}
	out.Flags(cmd, term.Text, "json")
	return cmd
}

func writeItems(a *cli.App, w io.Writer, out *term.Output, items []notify.Item) error {
	if out.Format == "json" {
		return term.WriteList(w, "notifications", append([]notify.Item{}, items...))
	}
	if len(items) == 0 {
		fmt.Fprintln(w, "there are no notifications")
		return nil
	}
	p, width := a.Paint(out), a.Width(out)
	for _, i := range items {
		fmt.Fprintf(w, "%s  %s\n", i.Entry.ID, term.OneLine(i.Entry.Title, width-len(i.Entry.ID)-2))
		switch {
		case i.Unseen:
			fmt.Fprintf(w, "  %s\n", p.Bad("shown to nobody"+term.After(": ", nowhere(i))))
		case len(i.Deliveries) == 0:
			fmt.Fprintln(w, "  not sent yet: run `reviewer notify deliver`")
		}
		for _, d := range i.Deliveries {
			fmt.Fprintf(w, "  %s  %s\n", p.Colour(colourOf(d.Status), term.Pad(string(d.Status), 9)), term.OneLine(deliveryText(d), width-13))
		}
	}
	return nil
}

// nowhere explains an item that was sent to no channel.
func nowhere(i notify.Item) string {
	if len(i.Deliveries) == 0 && i.Entry.Approval != nil {
		return "no channel is configured for approvals"
	}
	return ""
}

func deliveryText(d notify.Delivery) string {
	text := fmt.Sprintf("%s, %s", d.Channel, term.Counted(len(d.Attempts), "attempt", "attempts")) + term.After(": ", d.Why)
	if n := len(d.Attempts); n > 0 {
		last := d.Attempts[n-1]
		if last.Counted {
			text += ", in a digest that said only how many wait"
		}
		text += ", the last at " + last.Time + exitText(d) + term.After(": ", last.Error) + term.After(": ", last.Output)
	}
	return text
}

// exitText describes how a program ended, if one ran.
func exitText(d notify.Delivery) string {
	n := len(d.Attempts)
	if n == 0 || d.Attempts[n-1].Exit == nil {
		return ""
	}
	return fmt.Sprintf(", exit code %d", *d.Attempts[n-1].Exit)
}

func colourOf(s notify.Status) string {
	switch s {
	case notify.Failed:
		return term.Bad
	case notify.Pending, notify.Skipped:
		return term.Warn
	}
	return term.Good
}

// Undelivered counts the notifications that were not delivered to all channels.
type Undelivered struct {
	Waiting, Failed int    // notifications: not sent to all channels yet; given up for some channel
	Last            string // channel and error of the latest delivery that failed
	Unseen          int    // requests for approval that no channel accepted: it is too late for another attempt
}

// FindUndelivered reads the spool of a state directory. The error names what cannot be
// read; the rest is counted.
func FindUndelivered(store *audit.Store) (Undelivered, error) {
	var u Undelivered
	items, err := spoolOf(store).List()
	latest := ""
	for _, i := range items {
		if i.Finished == 0 {
			u.Waiting++
		}
		if i.Entry.Approval != nil {
			if i.Unseen {
				u.Unseen++
			}
			continue
		}
		failed := slices.DeleteFunc(slices.Clone(i.Deliveries), func(d notify.Delivery) bool { return d.Status != notify.Failed })
		if len(failed) == 0 {
			continue
		}
		u.Failed++
		if i.Entry.Time >= latest {
			latest, u.Last = i.Entry.Time, deliveryText(failed[len(failed)-1])
		}
	}
	return u, err
}
