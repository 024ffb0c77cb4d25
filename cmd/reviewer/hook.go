package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/checkpointcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/installed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/notifycmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/snapshots"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/act"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/caller"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/serve"
	"github.com/agent-reviewer/reviewer/engine/serve/client"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
	"github.com/agent-reviewer/reviewer/engine/transcript"
	"github.com/spf13/cobra"
)

// margin is the part of the agent's timeout that is reserved for a denial, since the
// call runs when the timeout has passed.
const margin = 2 * time.Second

func hookCommand(a *cli.App) *cobra.Command {
	var seconds int
	cmd := &cobra.Command{
		Use:   "hook AGENT [EVENT]",
		Short: "Review one event of an agent; called by the agent's hooks",
		Long: "Reads one event from standard input and answers in the agent's format. EVENT is given\n" +
			"on the command line because unreadable input does not name its event; without EVENT,\n" +
			"unreadable input is treated as a tool call and denied.",
		Example: "  reviewer hook claude-code PreToolUse < event.json",
		Args:    cli.AtMost(2, cli.Argument{Name: "AGENT", What: "the name of an agent, such as claude-code"}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed(keyFlag) && !engine.IsFingerprint(a.Key) {
				return cli.Usage("--key is not the fingerprint of a key, which has 32 hexadecimal digits: "+
					"run `reviewer install %s` to write the command again", cli.Masked(args[0]))
			}
			h, ok := harness.Find(args[0])
			if !ok {
				return cli.Usage("unknown agent %q; expected one of %s", args[0], strings.Join(harness.Names(), ", "))
			}
			event := ""
			if len(args) == 2 {
				event = args[1]
			}
			if a.Home == "" {
				a.Home = installedHome(a, args[0])
			}
			if code, done := outside(a); done {
				return exitWith(code)
			}
			given := time.Duration(seconds) * time.Second
			from := onDisk()
			if a.Env(wire.WhyVariable) != "" && a.Home != "" { // the client looked for the resident process
				ready := startResident(a)
				defer ready.Close() // nil: none was started
				until := time.Now().Add(max(given, h.Timeout(event)) - margin/2 - elapsed(a))
				visit := &audit.Visit{Alone: wantsResident(a), Tell: reportLines(a.Home, ready, until)}
				from.store = func(a *cli.App) (*audit.Store, error) {
					log, err := a.OpenStore()
					if err == nil {
						log.Visit = visit
					}
					return log, err
				}
			}
			return hook(cmd.Context(), a, from, h, hookCall{event, a.Key, elapsed(a), given})
		},
	}
	cmd.Flags().IntVar(&seconds, strings.TrimPrefix(wire.TimeoutFlag, "--"), 0,
		"`seconds` that the agent gives the hook, if more than `reviewer install` sets by default")
	cmd.Flags().StringVar(&a.Key, keyFlag, "",
		"`fingerprint` of the key of the approval code, which `reviewer install` writes here: choices count only with it")
	return cmd
}

// installedHome returns the state directory that install wrote into the agent's settings, for a hook whose command line
// names none: the environment decides only if there is no other hook, since a project can set it.
func installedHome(a *cli.App, agent string) string {
	known, ok := settings.Find(agent)
	p, err := signed.Places(a)
	if !ok || err != nil {
		return ""
	}
	return installed.Home(known, p)
}

// keyFlag is the name of wire.KeyFlag.
var keyFlag = strings.TrimPrefix(wire.KeyFlag, "--")

// outside lets the resident process answer a hook that is confined by `reviewer run`, since nothing can be recorded
// inside. If that process does not answer, the client starts this program again, which then fails to record
// anything, and denies.
func outside(a *cli.App) (code int, done bool) {
	if a.Home == "" || a.Env(wire.ElapsedVariable) != "" || !client.Proven(client.Proof(a.Home)) {
		return 0, false
	}
	return client.Main(os.Args[1:]), true
}

func exitWith(code int) error {
	if code == cli.ExitOK {
		return nil
	}
	return &cli.ExitError{Code: code}
}

// hookCall is what is known about an event from the command line of a hook.
type hookCall struct {
	event   string
	key     string        // fingerprint of the key whose choices count; empty: none was given
	elapsed time.Duration // since the event arrived
	given   time.Duration // by the agent; 0: the default
}

// source is where a hook gets the log and the policy from.
type source struct {
	store func(*cli.App) (*audit.Store, error)
	load  func(ctx context.Context, log *audit.Store, workspace string) (*review.Policy, error)
	under func(log *audit.Store, p *review.Policy) *audit.Store // the log as a policy keeps it; nil: as it is kept without one
	start func(review func())                                   // in a goroutine
	said  func(reply)                                           // receives the answer; nil: nothing does
	late  *act.LateReviews                                      // reviews after the answer; nil: each call waits for its review
	made  func(result string)                                   // receives the result of each of these; nil: nothing does
	cpu   func() time.Duration                                  // CPU time that was used, as far as it belongs to the event
	pause *serve.Pause                                          // what a call that waits for a person does; nil: nothing
}

// onDisk reads everything from disk, as a process that answers one event does.
func onDisk() source {
	return source{store: (*cli.App).OpenStore, load: loadForOne, under: keptBy, cpu: osfile.ProcessTime,
		start: func(review func()) { go review() }}
}

// reply is what goes back to the agent.
type reply struct {
	stdout []byte
	stderr string
	exit   int

	decision string // what the agent was told; empty: nothing was decided
	slow     bool
	early    bool // it was given before the review
	session  string
	call     bool              // the event is a call that could be denied
	key      engine.SessionKey // as the log has it
}

func send(a *cli.App, r reply) error {
	if _, err := a.Stdout.Write(r.stdout); err != nil {
		// 2 is a denial, for some agents only with a message.
		fmt.Fprintf(a.Stderr, "reviewer: the answer could not be written, so the call does not run: %v\n", err)
		return &cli.ExitError{Code: cli.ExitFindings, Err: nil}
	}
	if r.stderr != "" {
		fmt.Fprintln(a.Stderr, strings.TrimSpace(r.stderr))
	}
	if r.exit != cli.ExitOK {
		return &cli.ExitError{Code: r.exit, Err: nil}
	}
	return nil
}

// forHook reports whether a command line is that of a hook. One with an unknown
// command counts as a hook's if it contains the word hook or the name of an event: a
// review was intended, and the call must not run without one.
func forHook(root *cobra.Command, args []string) bool {
	cmd, _, _ := root.Find(args)
	if cmd != nil && cmd.HasParent() {
		return cmd.Name() == "hook"
	}
	return slices.Contains(args, "hook") || slices.ContainsFunc(args, isEvent)
}

// hookFailed returns the exit code of a hook: that of its answer, or a denial if there
// was none because the command line is wrong.
func hookFailed(a *cli.App, args []string, err error) int {
	var answered *cli.ExitError
	switch {
	case errors.As(err, &answered):
		return answered.Code
	case err == nil && !helpInstead(args):
		return cli.ExitOK
	case err == nil:
		err = errors.New("--help was given, so nothing was reviewed")
	}
	// Only an event with a known name may fail silently: otherwise the agent may be
	// about to run something.
	event := ""
	if i := slices.IndexFunc(args, isEvent); i >= 0 {
		event = args[i]
	}
	r := failure(agentOf(args), event, "the hook's command line is wrong: "+cli.Masked(err.Error()))
	if errors.As(send(a, r), &answered) {
		return answered.Code
	}
	return r.exit
}

// agentOf returns the agent that a hook's command line names, or the first one.
func agentOf(args []string) harness.Harness {
	for _, arg := range args {
		if h, ok := harness.Find(arg); ok {
			return h
		}
	}
	return harness.Harnesses()[0]
}

// helpInstead reports whether a hook's command line names an agent or an event, and
// asks for help: help exits with 0, which the client would treat as permission.
func helpInstead(args []string) bool {
	help := slices.Contains(args, "--help") || slices.Contains(args, "-h") || slices.Contains(args, "help")
	named := func(arg string) bool { return isEvent(arg) || slices.Contains(harness.Names(), arg) }
	return help && slices.ContainsFunc(args, named)
}

func isEvent(arg string) bool {
	return slices.ContainsFunc(harness.Harnesses(), func(h harness.Harness) bool { return slices.Contains(h.Events, arg) })
}

// hook always answers within the agent's timeout: a review that hangs or
// panics is a failure like any other.
//
// The limit is that of a review. A call that waits for a person may take as long as the agent
// gives the hook.
func hook(ctx context.Context, a *cli.App, from source, h harness.Harness, call hookCall) error {
	event := call.event
	start := time.Now().Add(-call.elapsed)
	limit := h.Timeout(event) - margin - call.elapsed
	asking := &questions{app: a, pause: from.pause, waits: make(chan struct{}),
		until: start.Add(max(call.given, h.Timeout(event)) - margin)}
	ctx, cancel := context.WithDeadline(ctx, asking.until)
	defer cancel()
	tooLong := time.NewTimer(limit)
	defer tooLong.Stop()
	done := make(chan reply, 1)
	from.start(func() {
		defer func() {
			if p := recover(); p != nil {
				done <- failure(h, event, a.Crashed(p))
			}
		}()
		done <- answer(ctx, a, from, h, event, start, asking)
	})
	var r reply
	select {
	case r = <-done:
	case <-tooLong.C:
		cancel()
		r = failure(h, event, fmt.Sprintf("the review took longer than %s", limit))
	case <-asking.waits:
		select {
		case r = <-done:
		case <-ctx.Done():
			r = failure(h, event, "nobody answered the question about this call in time")
		}
	}
	if from.said != nil {
		from.said(r)
	}
	return send(a, r)
}

func failure(h harness.Harness, event, text string) reply {
	var r reply
	r.stdout, r.stderr, r.exit = h.Failure(event, text)
	return r
}

func answer(ctx context.Context, a *cli.App, from source, h harness.Harness, event string, start time.Time, asking *questions) reply {
	runtime.LockOSThread() // its CPU time is that of the review
	defer runtime.UnlockOSThread()
	used := from.cpu()
	raw, err := io.ReadAll(io.LimitReader(a.Stdin, harness.MaxInput+1))
	if err != nil {
		return failure(h, event, "the hook input could not be read: "+err.Error())
	}
	store, err := from.store(a)
	if err != nil {
		return failure(h, event, err.Error())
	}
	return respond(ctx, a, h, event, raw, store, func() (*act.Reviewer, error) {
		r, err := reviewer(ctx, a, from, store)
		if err == nil {
			r.Agent.Channels = h.Channels
			asking.store, asking.mask, r.Services.Questions = store, r.Classifier.Mask, asking
			r.Clock.Elapsed = func() float64 { return float64(time.Since(start).Microseconds()) / 1000 }
			r.Clock.CPU = func() float64 { return float64((from.cpu() - used).Microseconds()) / 1000 }
		}
		return r, err
	})
}

// respond answers an event's input. The reviewer is created once the input has been read.
func respond(ctx context.Context, a *cli.App, h harness.Harness, event string, raw []byte, store *audit.Store,
	reviewer func() (*act.Reviewer, error)) reply {
	e, err := h.Decode(event, raw, a.Env(h.Project))
	if err != nil {
		text := masked(store, err)
		if string(raw) != doctorInput {
			noteUndecodable(ctx, a, store, raw, text)
		}
		return failure(h, e.Name, text) // the stricter of the two names, if they differ
	}
	opened := openedLog{key: engine.SessionKey{Harness: e.Harness, Session: e.Session}}
	opened.workspace, opened.began, err = store.Workspace(opened.key)
	if err != nil {
		opened.began = 0 // it is read again where the error is reported
	}
	e.Client = sender(a, h, e, store, opened.began != 0)
	e = answeredByPeople(a, h, e)
	e, repeats := unrepeated(a, h, store, e)
	if err := checkState(a, h, &e, store); err != nil {
		return failure(h, e.Name, err.Error())
	}
	noteResident(ctx, a, store)
	r, err := reviewer()
	if err != nil {
		return failure(h, e.Name, err.Error())
	}
	if opened.began != 0 {
		opened.Log, r.Log = r.Log, &opened
	}
	answer, _ := r.Handle(ctx, e) // the answer reports the failure
	answer.Tool = e.Tool
	switch codes := (&code.Store{Log: store}); {
	case e.Phase == engine.PhaseStart:
		answer.Person = strings.Trim(answer.Person+"\n"+codes.AtStart(), "\n")
	case e.Phase == engine.PhasePrompt && answer.Person == "":
		answer.Person = codes.AtPrompt()
	}
	if e.Phase == engine.PhaseStart || e.Phase == engine.PhasePrompt {
		answer.Person = strings.Trim(answer.Person+"\n"+installed.AtPrompt(ctx, store), "\n")
	}
	answer.Person = strings.Trim(answer.Person+"\n"+repeats, "\n")
	checkpointcmd.StartExpire(a, store, e.Phase)
	out := reply{decision: string(answer.Effect), slow: answer.Slow, early: answer.Early, session: e.Harness + "/" + e.Session,
		call: e.Phase == engine.PhasePre, key: engine.SessionKey{Harness: e.Harness, Session: r.Classifier.Mask(e.Session)}}
	out.stdout, out.stderr, out.exit = h.Encode(e.Name, answer)
	return out
}

// checkState refuses to go on with a session that the log does not know in a state directory that is not the one for which the
// hook was installed: that one was moved away, and what was denied and stopped with it. On another machine, to which
// only the settings were copied, sessions begin as usual, if the agent reports that.
func checkState(a *cli.App, h harness.Harness, e *engine.Event, store *audit.Store) error {
	begins := func(event string) bool { return h.Phase(event) == engine.PhaseStart }
	if !slices.ContainsFunc(h.Events, begins) || e.Phase == engine.PhaseStart && e.Client.Verified() {
		return nil
	}
	replaced, err := store.Replaced(engine.SessionKey{Harness: e.Harness, Session: e.Session})
	if err == nil && replaced {
		err = fmt.Errorf("the state directory %s is new, and the hook was installed with the key of another one: restore that one, or begin a "+
			"new session", store.Dir)
	}
	return err
}

// sender returns the process from which an event comes. Whether it is a person's client is examined where that matters: at
// prompts, at the start, and at a session's first event. nil: it is not looked up.
func sender(a *cli.App, h harness.Harness, e engine.Event, store *audit.Store, opened bool) *engine.Client {
	if opened && e.Phase != engine.PhasePrompt && e.Phase != engine.PhaseStart && e.Asked == nil {
		return a.CallerAgain()
	}
	return a.Caller(h, store)
}

// unrepeated treats a prompt as one that nobody typed if its text comes from elsewhere, and returns what the person is told then.
func unrepeated(a *cli.App, h harness.Harness, store *audit.Store, e engine.Event) (engine.Event, string) {
	source := sourceOf(a, h, store, &e)
	if source == "" {
		return e, ""
	}
	e.Phase, e.Unverified = engine.PhaseOther, source
	return e, "reviewer: this prompt does not count as yours, since " + source + ". What it forbids is forbidden. " +
		"If you typed it, write it in other words."
}

// sourceOf returns where a prompt comes from that nobody may have typed: a call gave the same text to something that can pass it
// to an agent, or it is the text of a command of the client. Empty: it is a person's, as the client says or as far as is known.
func sourceOf(a *cli.App, h harness.Harness, store *audit.Store, e *engine.Event) string {
	if e.Phase != engine.PhasePrompt || e.Typed {
		return ""
	}
	mac, err := store.MAC()
	if err != nil {
		return masked(store, err)
	}
	digests := classify.PromptDigests(mac, e.Prompt)
	call, err := store.PromptSource(digests, cmp.Or(e.Time, time.Now().UnixMilli()))
	switch {
	case err != nil:
		return masked(store, err)
	case call != nil:
		return fmt.Sprintf("call %s (%s) gave the same text to something that can repeat it", call.Of, call.Tool)
	}
	found := h.CommandWith(func(text string) bool {
		return slices.ContainsFunc(classify.PromptDigests(mac, text), func(d string) bool { return slices.Contains(digests, d) })
	}, cmp.Or(e.Project, e.CWD), a.Env("HOME"), a.Env("USERPROFILE"))
	if found == "" {
		return ""
	}
	return masked(store, errors.New(found))
}

// masked masks an error about unreadable input, which may quote keys and values.
func masked(store *audit.Store, err error) string {
	text, macErr := cli.WithoutSecrets(store, err.Error())
	if macErr != nil {
		return "neither the hook input nor the state could be read: " + macErr.Error()
	}
	return text
}

// noteUndecodable records that input was unreadable, without its contents.
func noteUndecodable(ctx context.Context, a *cli.App, store *audit.Store, raw []byte, cause string) {
	mac, err := store.MAC()
	if err != nil {
		return // the denial reports it
	}
	// The call is denied even if this cannot be written.
	_ = store.Note(ctx, engine.Note{What: "undecodable", Detail: fmt.Sprintf("%d bytes, mac %.16s: %.200s", len(raw), mac(raw), cause)})
}

// reviewer sets up a live review: this machine's files, the log, the policy.
func reviewer(ctx context.Context, a *cli.App, from source, store *audit.Store) (*act.Reviewer, error) {
	mac, err := store.MAC()
	if err != nil {
		return nil, err
	}
	world, err := a.World(store.Dir)
	if err != nil {
		return nil, err
	}
	world.Started = a.StartedByCall
	return &act.Reviewer{
		Policy: func(workspace string) (*review.Policy, error) { return from.load(ctx, store, workspace) },
		Classifier: &classify.Classifier{World: world, MAC: mac, Secrets: bundles.BuiltInTokens(), Program: cli.Program(),
			Shipped: bundles.BuiltInRows},
		Log:   &policyLog{store, func(p *review.Policy) *audit.Store { return from.under(store, p) }},
		Env:   cli.Environment(),
		Clock: act.Clock{Now: func() int64 { return time.Now().UnixMilli() }},
		Agent: act.Agent{
			Runs: caller.Runs,
			Request: func(e engine.Event) string {
				words, _ := transcript.Request(e) // without them, the reminder has a placeholder text
				return words
			},
			Usage: transcript.Usage,
			SubTasks: func(e engine.Event) []engine.SubTask {
				events, _ := transcript.Latest(e) // without them, the reminder has their numbers
				return classify.SubTasks(e.Rows, events)
			},
		},
		Services: act.Services{
			Sessions: stops{store},
			Files:    &snapshots.Taker{Log: store, World: world},
			Late:     from.late,
			Answered: func(p *review.Policy, key engine.SessionKey, answer engine.Answer) {
				notifycmd.Start(a, store, p, key, answer)
			},
			LateReviewed: func(p *review.Policy, _ engine.SessionKey, rec *engine.Record) {
				if from.made != nil {
					from.made(rec.Act.Result)
				}
				notifycmd.StartLate(a, store, p, rec)
			},
		},
	}, nil
}

// recordPrompt records an event that no hook reported: a goal that the person who started a run declared.
func recordPrompt(ctx context.Context, a *cli.App, store *audit.Store, e engine.Event) error {
	r, err := reviewer(ctx, a, onDisk(), store)
	if err != nil {
		return err
	}
	start := time.Now()
	r.Clock.Elapsed = func() float64 { return float64(time.Since(start).Microseconds()) / 1000 }
	store.Visit = &audit.Visit{Tell: reportLines(store.Dir, nil, start.Add(margin))}
	_, err = r.Handle(ctx, e)
	return err
}

// answeredByPeople leaves a question out that a program other than the client could answer: another hook, or a program that the
// client's command line names.
func answeredByPeople(a *cli.App, h harness.Harness, e engine.Event) engine.Event {
	if e.Asked != nil && (a.ClientHas(h.Answering) || answeringHook(a, h, cmp.Or(e.Project, e.CWD), e.Tool)) {
		e.Asked = nil
	}
	return e
}

// answeringHook reports whether the settings of an agent have a hook of somebody else that could answer a tool's question.
// Settings that cannot be read may have one.
func answeringHook(a *cli.App, h harness.Harness, folder, tool string) bool {
	p, err := signed.Places(a)
	if err != nil {
		return true
	}
	p.Project = cmp.Or(folder, p.Project)
	i := slices.IndexFunc(settings.Agents(), func(s settings.Agent) bool { return s.Name == h.Name })
	if i < 0 {
		return true
	}
	reader := installed.Reader{}
	found := reader.Read(settings.Agents()[i], p)
	return len(found.Broken) > 0 || slices.ContainsFunc(found.Files, func(f installed.File) bool {
		return slices.ContainsFunc(f.Foreign, func(o settings.ForeignHook) bool { return matchesTool(o.Matcher, tool) })
	})
}

// matchesTool reports whether a hook is for a tool. An expression that cannot be read may mean anything.
func matchesTool(matcher, tool string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	re, err := regexp.Compile("^(?:" + matcher + ")$")
	return err != nil || re.MatchString(tool)
}
