package signed

import (
	"cmp"
	"context"
	"fmt"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
)

// Adoption is the fingerprint that an installation gives to the hooks in a user's own settings.
type Adoption struct {
	Key    string            // of all hooks, unless Keep
	Keep   bool              // each hook keeps its own
	Own    map[string]string // with Keep: by agent
	New    error             // with Keep: why an agent without hooks gets none; nil: it does, without a fingerprint
	Secret string            // the code, if one was made
	Given  string            // the code, if one was made or asked for
	Notes  []string          // what the person must know
}

// How an installation is made.
type How int

// The ways of an installation.
const (
	Quiet  How = iota // nobody is asked and no code is made
	Asking            // a person is at the terminal
	Shown             // it is only shown what would be written, with the code
)

// Adopt finds the fingerprint for the hooks of an installation. It believes no key that it finds: hooks that are installed
// already know it, or the person gives its code. Where there is none, a person at a terminal gets a code.
func Adopt(ctx context.Context, a *cli.App, log *audit.Store, how How) (Adoption, error) {
	pins, err := Pins(a, log.Dir)
	if err != nil {
		return Adoption{}, err
	}
	keep := Adoption{Keep: true, Own: map[string]string{}}
	if log.Fingerprint != "" { // an administrator stated it
		if follows, err := Follows(log, log.Fingerprint); err != nil || follows {
			return Adoption{Key: log.Fingerprint}, err
		}
	}
	known, strange := "", false
	for _, pin := range pins {
		if pin.Layer != settings.LayerUser {
			continue // a repository writes those of a project
		}
		if keep.Own[pin.Agent] = pin.Key; pin.Key == "" {
			continue
		}
		follows, err := Follows(log, pin.Key)
		if err != nil {
			return Adoption{}, err
		}
		if strange = strange || !follows; follows {
			known = cmp.Or(known, pin.Key)
		}
	}
	if known != "" && !strange {
		return Adoption{Key: known}, nil
	}
	ledger := &audit.Store{Dir: log.Dir, Env: log.Env}
	key, _, err := ledger.PersonKey()
	there := key != nil
	switch {
	case err != nil:
		return Adoption{}, err
	case there && how == Shown:
		return Adoption{Key: key.Fingerprint()}, nil
	case there && how == Asking:
		return askedFor(a, ledger, key)
	case there:
		keep.New = fmt.Errorf("%s has an approval code that no hook here was given, so an agent may have made it: "+
			"run this command in a terminal of your own, where you can give the code, or start over with "+
			"`reviewer approvals code --lost`", log.Dir)
		keep.Notes = []string{"the hooks keep the fingerprint that they have, or have none, since only a person at a terminal can give " +
			"the approval code of this ledger: see `reviewer doctor code`"}
		return keep, nil
	case how != Asking:
		keep.Notes = []string{"no approval code is set, and none was made, since this is not a terminal: " +
			"until you run `reviewer approvals code`, no command lifts a denial"}
		return keep, nil
	}
	return fresh(ctx, a, log, ledger, keep)
}

// fresh makes the first code. If that is not possible now, the installation goes on without one.
func fresh(ctx context.Context, a *cli.App, log, ledger *audit.Store, keep Adoption) (Adoption, error) {
	secret, err := first(ctx, a, log)
	if err != nil {
		keep.Notes = []string{fmt.Sprintf("no approval code is set, and none was made: %v. Make one with `reviewer approvals code`, "+
			"then install again; until then no command lifts a denial", err)}
		return keep, nil
	}
	key, _, err := ledger.PersonKey()
	if err != nil {
		return Adoption{}, err
	}
	made := Adoption{Key: key.Fingerprint(), Secret: secret, Given: secret}
	if found := listed("this was in the state directory before, so check whether it is yours: ", Found(log.Dir)); found != "" {
		made.Notes = []string{found}
	}
	return made, nil
}

// askedFor asks for the code of a key that no hook knows.
func askedFor(a *cli.App, ledger *audit.Store, key *engine.PersonKey) (Adoption, error) {
	codes := &code.Store{Log: ledger}
	found := append([]string{"the key of an approval code"}, Found(ledger.Dir)...)
	fmt.Fprintf(a.Stderr, "%sGive the approval code to keep them. Without it nothing is installed; "+
		"`reviewer approvals code --lost` starts over.\n",
		listed(ledger.Dir+" has things that no hook here was told of, so an agent may have put them there: ", found))
	secret, err := a.Secret("approval code: ")
	if err != nil {
		return Adoption{}, fmt.Errorf("read the approval code: %w", err)
	}
	if err := codes.Verify(secret); err != nil {
		return Adoption{}, err
	}
	return Adoption{Key: key.Fingerprint(), Given: secret}, nil
}
