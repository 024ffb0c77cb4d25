// Package signed asks the person at the terminal for their approval code, and signs with it what they chose.
//
// Out of scope: which choices need a signature (engine), the key itself (engine/approval/code), and
// whether it is a person who types (cmd/reviewer/cli). A process that answers a hook does not import it.
package signed

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// Act is a person who gave their code for something they are about to do.
type Act struct {
	Signer  *code.Key
	By      string // the user
	Channel string // how they gave it, for the log
}

// The channels of choices that are made at a terminal.
const (
	Terminal = "terminal and code"
	Shared   = "shared terminal and code" // an agent can type there as well
)

// Ask asks for the code. what says what it is for, such as "allowing a call".
func Ask(ctx context.Context, a *cli.App, log *audit.Store, what string) (*Act, error) {
	return ask(ctx, a, log, what, codeOf(a), (*code.Store).Unlock)
}

// Typed is Ask for a code that the caller has read from the terminal itself, and without showing it.
func Typed(ctx context.Context, a *cli.App, log *audit.Store, what, typed string) (*Act, error) {
	return ask(ctx, a, log, what, func() (string, error) { return typed, nil }, (*code.Store).Unlock)
}

// codeOf reads the code from the terminal.
func codeOf(a *cli.App) func() (string, error) {
	return func() (string, error) { return a.Secret("approval code: ") }
}

// ask reads the code, and unlocks its key.
func ask(ctx context.Context, a *cli.App, log *audit.Store, what string, read func() (string, error),
	unlock func(*code.Store, context.Context, string) (*code.Key, error)) (*Act, error) {
	channel := Terminal
	by, err := a.Person(what)
	if errors.As(err, new(*cli.SharedTerminalError)) && a.StdinTerminal() {
		by, channel, err = cli.UserName(), Shared, nil
	}
	if err != nil {
		return nil, err
	}
	if err := checkPins(a, log); err != nil {
		return nil, err
	}
	codes := &code.Store{Log: log}
	there, err := codes.Exists()
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, fmt.Errorf("%s needs an approval code, and none is set: make one with `reviewer approvals code`", what)
	}
	if err := Harden(); err != nil {
		return nil, err
	}
	typed, err := read()
	if err != nil {
		return nil, fmt.Errorf("read the approval code: %w", err)
	}
	key, err := unlock(codes, ctx, typed)
	if err != nil {
		return nil, err
	}
	return &Act{key, by, channel}, nil
}

// Person returns the name of the person who runs a command that needs no signature. Where an agent could be at the terminal as
// well, they give their code; where none was ever made, the command is refused there.
func Person(ctx context.Context, a *cli.App, what string) (string, error) {
	by, err := a.Person(what)
	if !errors.As(err, new(*cli.SharedTerminalError)) || !a.StdinTerminal() {
		return by, err
	}
	log, failed := a.OpenStore()
	if failed != nil {
		return "", failed
	}
	if there, failed := (&code.Store{Log: log}).Exists(); failed != nil || !there {
		return "", errors.Join(err, failed)
	}
	act, err := Ask(ctx, a, log, what)
	if err != nil {
		return "", err
	}
	act.Signer.Wipe()
	return act.By, nil
}

// Choice returns the choice of an act that concerns the machine. shown is the whole act in words; the digest covers
// all its parameters, which act contains.
func Choice(do, shown string, act any) (engine.Control, error) {
	b, err := engine.CanonicalOf(act)
	return engine.Control{Do: do, Reason: engine.ClipJSON(shown, maxShown), Digest: engine.HexSum(b)}, err
}

// maxShown bounds the words of an act in the ledger, in bytes of JSON.
const maxShown = 4 << 10

// Record records an act of a person that concerns the machine, signed with their code, before it is carried out.
// what says what it is for, as for Ask; choice.Reason says the whole act, which the person is shown before they give the
// code, and choice.Digest is that of all its parameters. Where no code was ever made, a person at a terminal is enough,
// and nothing is recorded.
func Record(ctx context.Context, a *cli.App, log *audit.Store, what string, choice engine.Control) (by string, err error) {
	return RecordOr(ctx, a, log, what, choice, a.Person)
}

// RecordOr is Record with another condition where no code was ever made, such as cli.App.NoAgent.
func RecordOr(
	ctx context.Context, a *cli.App, log *audit.Store, what string, choice engine.Control, uncoded func(what string) (string, error),
) (by string, err error) {
	h, err := Begin(ctx, a, log, what, choice.Reason, uncoded)
	if err != nil {
		return "", err
	}
	defer h.Wipe()
	return h.By, h.Record(ctx, choice)
}

// Hand is a person who gave their code for one or more acts that concern the machine.
type Hand struct {
	By  string
	log *audit.Store
	act *Act // nil: no code was ever made
}

// Begin shows a person what they are about to sign, and asks for their code. Where no code was ever made, it asks uncoded.
func Begin(
	ctx context.Context, a *cli.App, log *audit.Store, what, shown string, uncoded func(what string) (string, error),
) (*Hand, error) {
	there, err := (&code.Store{Log: log}).Exists()
	if err != nil {
		return nil, err
	}
	if !there {
		by, err := uncoded(what)
		return &Hand{By: by}, err
	}
	if shown, err = cli.WithoutSecrets(log, shown); err != nil {
		return nil, err
	}
	fmt.Fprintf(a.Stderr, "To be signed: %s\n", term.OneLine(shown, maxShown))
	act, err := Ask(ctx, a, log, what)
	if err != nil {
		return nil, err
	}
	return &Hand{act.By, log, act}, nil
}

// Record records an act, if there is a code.
func (h *Hand) Record(ctx context.Context, choice engine.Control) (err error) {
	if h.act == nil {
		return nil
	}
	choice.By = h.By
	if choice.Reason, err = cli.WithoutSecrets(h.log, choice.Reason); err != nil {
		return err
	}
	return h.log.Act(ctx, choice, h.act.Signer)
}

// Signer returns what signs; nil: no code was ever made.
func (h *Hand) Signer() audit.Signer {
	if h.act == nil {
		return nil
	}
	return h.act.Signer
}

// Wipe forgets the key.
func (h *Hand) Wipe() {
	if h.act != nil {
		h.act.Signer.Wipe()
	}
}
