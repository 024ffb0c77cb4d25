package notifycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/spf13/cobra"
)

// tested is the result of a test of one channel.
type tested struct {
	Channel string `json:"channel"`
	OK      bool   `json:"ok"`
	Error   string `json:"error,omitempty"`
}

func testCommand(a *cli.App) *cobra.Command {
	var out term.Output
	var approval bool
	cmd := &cobra.Command{
		Use:     "test [CHANNEL…]",
		Short:   "Send a test message to the channels, once, and show the response of each",
		Example: "  reviewer notify test\n  reviewer notify test oncall --approval",
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			to, err := configuration(a, store.Dir)
			if err != nil {
				return err
			}
			channels, err := chosen(to.channels, args)
			if err != nil {
				return err
			}
			results := try(cmd.Context(), channels, message(approval, time.Now()), to.plan.Timeout)
			return out.Write(a.Stdout, func(w io.Writer) error { return writeTested(a, w, &out, results) })
		},
	}
	cmd.Flags().BoolVar(&approval, "approval", false, "send an example of a question that waits for an answer")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

func chosen(channels []notify.Channel, names []string) ([]notify.Channel, error) {
	if len(channels) == 0 {
		return nil, errors.New("no channel is configured: set interventions.notification_channels in a settings file")
	}
	for _, name := range names {
		if !slices.ContainsFunc(channels, func(c notify.Channel) bool { return c.Name() == name }) {
			return nil, fmt.Errorf("no channel is named %q", name)
		}
	}
	return slices.DeleteFunc(channels, func(c notify.Channel) bool { return len(names) > 0 && !slices.Contains(names, c.Name()) }), nil
}

// message is a test message, or an example of a request, about which nobody waits for an answer.
func message(approval bool, now time.Time) notify.Entry {
	if approval {
		return notify.Ask(notify.Request{
			ID: "example", Action: "rm -rf build", Effects: []string{"deletes build, in the workspace"}, Reasons: []string{"This is an example: nothing waits."},
			Level: "medium", Undo: "it can be undone from a checkpoint", Deadline: now.Add(3 * time.Minute).UTC().Format(time.RFC3339),
		}, now, "claude-code", "example", "example")
	}
	return notify.Entry{V: notify.EntryVersion, ID: "test-" + strconv.FormatInt(now.UnixMilli(), 10), Kind: notify.KindTest,
		Time: now.UTC().Format(time.RFC3339), Title: "reviewer: a test", Text: "This channel works. Nothing was stopped.", Next: "reviewer notify list"}
}

// try sends a message to each channel, one after another.
func try(ctx context.Context, channels []notify.Channel, e notify.Entry, limit time.Duration) []tested {
	results := []tested{}
	for _, c := range channels {
		one := tested{Channel: c.Name(), OK: true}
		if err := notify.Send(ctx, c, e, limit); err != nil {
			one.OK, one.Error = false, cli.Masked(err.Error())
		}
		results = append(results, one)
	}
	return results
}

func writeTested(a *cli.App, w io.Writer, out *term.Output, results []tested) error {
	var failed error
	for _, r := range results {
		if !r.OK {
			failed = errors.New("a channel did not accept the test message")
		}
	}
	if out.Format == "json" {
		return errors.Join(term.WriteList(w, "channels", results), failed)
	}
	p := a.Paint(out)
	for _, r := range results {
		if r.OK {
			fmt.Fprintf(w, "%s  %s\n", p.Good("ok    "), r.Channel)
		} else {
			fmt.Fprintf(w, "%s  %s: %s\n", p.Bad("failed"), r.Channel, term.OneLine(r.Error, 300))
		}
	}
	return failed
}
