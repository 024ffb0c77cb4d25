package approvalscmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/spf13/cobra"
)

// unsigned is the channel of a denial for which nobody gave a code. Its message does not reach the agent.
const unsigned = "unsigned"

const answeringAQuestion = "answering a question"

// answering is what a person chose for all questions of a command line.
type answering struct {
	queue   queue.Queue
	approve bool
	session bool   // approve: also identical later calls of the session
	stop    bool   // deny: stop the session as well
	message string // without secrets
	digest  string // of what the person saw; empty: of what waits now
	by      string
	channel string
	signer  audit.Signer // nil: a denial that nobody signed
}

func approveCommand(a *cli.App, propose Propose) *cobra.Command {
	choice := answering{approve: true}
	var out term.Output
	var dir string
	cmd := &cobra.Command{
		Use:   "approve ID…",
		Short: "Let waiting calls run; needs a person at a terminal, and their approval code",
		Long: "Approves exactly the calls whose ids are given. If one answer is refused, the others are\n" +
			"still recorded. An answer is refused if the question has an answer already, its time has passed, or the\n" +
			"session was stopped. An approved call does not run if the policy or a file that it uses has changed.\n\n" +
			"--propose also proposes an exception to the rules that asked about this call, with\n" +
			"its case and its effect on past sessions, as `reviewer policy suggest` does. Nothing is applied.",
		Example: "  reviewer approvals approve f8dc9b3b-35 f8dc9b3b-36\n  reviewer approvals approve f8dc9b3b-35 --session\n" +
			"  reviewer approvals approve f8dc9b3b-35 --propose proposal",
		Args: cli.AtLeast(questionID()),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" && (len(args) > 1 || out.Format == "json") {
				return cli.Usage("--propose takes one ID, and prints text: give one ID, without -f json")
			}
			err := choice.run(cmd.Context(), a, &out, args)
			if dir == "" || err != nil {
				return err
			}
			fmt.Fprintln(a.Stdout)
			return propose(cmd.Context(), a, args[0], dir)
		},
	}
	choice.flags(cmd, &out, "message for the log")
	cmd.Flags().BoolVar(&choice.session, "session", false, "allow the same call until the session ends")
	cmd.Flags().StringVar(&dir, "propose", "", "propose an exception in this new `folder`")
	return cmd
}

func denyCommand(a *cli.App) *cobra.Command {
	var choice answering
	var out term.Output
	cmd := &cobra.Command{
		Use:   "deny ID…",
		Short: "Deny waiting calls; a message to the agent needs the approval code",
		Long: "Denies exactly the calls whose ids are given. The agent reads the message. With --stop,\n" +
			"their sessions are stopped as well: every later call is denied until\n" +
			"`reviewer session resume`.",
		Example: "  reviewer approvals deny f8dc9b3b-35 --message 'use the staging database'\n  reviewer approvals deny f8dc9b3b-35 --stop",
		Args:    cli.AtLeast(questionID()),
		RunE: func(cmd *cobra.Command, args []string) error {
			return choice.run(cmd.Context(), a, &out, args)
		},
	}
	choice.flags(cmd, &out, "message for the agent and the log")
	cmd.Flags().BoolVar(&choice.stop, "stop", false, "also stop the session, until a person resumes it")
	return cmd
}

// flags adds the flags of both commands.
func (c *answering) flags(cmd *cobra.Command, out *term.Output, message string) {
	out.Flags(cmd, term.Text, "json")
	cmd.Flags().StringVar(&c.message, "message", "", message)
	cmd.Flags().StringVar(&c.digest, "digest", "", "answer only if the question has this `digest`, as \"reviewer approvals show\" prints it")
}

// run answers the questions of a command line, and prints the answers.
func (c *answering) run(ctx context.Context, a *cli.App, out *term.Output, ids []string) error {
	if err := c.prepare(ctx, a, ids); err != nil {
		return err
	}
	return report(a, out, c.all(ctx, ids))
}

// prepare checks the command line, and that a person gave it.
func (c *answering) prepare(ctx context.Context, a *cli.App, ids []string) (err error) {
	switch {
	case c.digest != "" && len(ids) > 1:
		return cli.Usage("--digest identifies one question: give one ID")
	case c.digest != "" && len(c.digest) < shownDigest:
		return cli.Usage("--digest needs at least the %s that `reviewer approvals show` prints",
			engine.Counted(shownDigest, "digit", "digits"))
	}
	if c.queue, err = open(a); err != nil {
		return err
	}
	if c.approve || c.message != "" && a.StdinTerminal() {
		act, err := signed.Ask(ctx, a, c.queue.Log, answeringAQuestion)
		if err != nil {
			return err
		}
		c.by, c.channel, c.signer = act.By, act.Channel, act.Signer
	} else {
		c.by, c.channel = cli.UserName(), unsigned
	}
	c.message, err = cli.WithoutSecrets(c.queue.Log, c.message)
	return err
}

// all answers the questions one after another: a refused answer does not hide the others.
func (c *answering) all(ctx context.Context, ids []string) []answerDocument {
	list := make([]answerDocument, 0, len(ids))
	for _, id := range ids {
		r, err := waiting(c.queue, id)
		list = append(list, c.one(ctx, id, r, err))
	}
	return list
}

// one answers a question. known is the reason why its request cannot be shown; such a question
// can only be denied.
func (c *answering) one(ctx context.Context, id string, r approval.Request, known error) answerDocument {
	d := answerDocument{ID: cli.Masked(id), Action: strings.TrimSpace(r.Tool + " " + r.Action), Approved: c.approve,
		Session: c.session, Message: c.message, By: c.by}
	if known != nil && (c.approve || r.ID == "" && !c.stop) {
		return d.refused(known)
	}
	_, err := c.queue.Answer(ctx, queue.Answer{ID: id, Digest: c.digestFor(&r), Approve: c.approve, Session: c.session,
		Stop: c.stop, Message: c.message, By: c.by, Channel: c.channel, Signer: c.signer})
	d.Stopped = c.stop && !errors.As(err, new(*queue.StopError))
	return d.refused(err)
}

// digestFor returns the digest that an answer repeats. A person may give its beginning.
func (c *answering) digestFor(r *approval.Request) string {
	if c.digest == "" || strings.HasPrefix(r.Digest, c.digest) {
		return r.Digest
	}
	return c.digest
}

// answerDocument is an answer, and whether it was recorded.
type answerDocument struct {
	ID       string `json:"id"`
	Action   string `json:"action,omitempty"`
	Approved bool   `json:"approved"`          // false: denied
	Session  bool   `json:"session,omitempty"` // the same call is allowed until the session ends
	Stopped  bool   `json:"stopped,omitempty"` // the session was stopped
	Message  string `json:"message,omitempty"`
	By       string `json:"by"`
	Refused  string `json:"refused,omitempty"` // why the answer was not recorded; absent: it was
}

// refused adds the reason why an answer was not recorded; nil: it was.
func (d answerDocument) refused(err error) answerDocument {
	if err != nil {
		d.Refused = cli.Masked(err.Error())
	}
	return d
}

// report prints the answers, and fails if one was refused.
func report(a *cli.App, out *term.Output, list []answerDocument) error {
	err := out.Write(a.Stdout, func(w io.Writer) error {
		if out.Format == "json" {
			return term.WriteList(w, "answers", list)
		}
		p := pageOf(a, out)
		for _, d := range list {
			d.print(p)
		}
		_, err := w.Write(p.Bytes())
		return err
	})
	refused := 0
	for _, d := range list {
		if d.Refused != "" {
			refused++
		}
	}
	if err == nil && refused > 0 {
		answers := engine.Counted(len(list), "answer was", "answers were")
		return &cli.ExitError{Code: cli.ExitFailed, Err: fmt.Errorf("%d of %s refused", refused, answers)}
	}
	return err
}

func (d *answerDocument) print(p term.Page) {
	word, colour := "denied", term.Warn
	switch {
	case d.Refused != "":
		word, colour = "refused", term.Bad
	case d.Approved:
		word, colour = "approved", term.Good
	}
	p.Line(term.Coloured(term.Pad(word, 9), colour), term.Plain(d.ID+term.After(": ", d.Action)))
	switch {
	case d.Refused != "":
		p.Field("", 9, "", d.Refused)
	case d.Session:
		p.Field("", 9, "", "and the same call is allowed until the session ends")
	}
	if d.Stopped {
		p.Field("", 9, "", "the session is stopped, until `reviewer session resume`")
	}
}
