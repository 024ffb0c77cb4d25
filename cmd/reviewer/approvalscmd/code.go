package approvalscmd

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/spf13/cobra"
)

func codeCommand(a *cli.App) *cobra.Command {
	var lost bool
	var name string
	cmd := &cobra.Command{
		Use:   "code",
		Short: "Make the code that signs what you allow; needs a person at a terminal",
		Long: "Makes the approval code, shows it once, and replaces any earlier one, which it asks for. What makes\n" +
			"policy milder counts only with it: allowing or approving a call, resuming a session, widening its scope,\n" +
			"uninstalling. The code is stored nowhere: it yields the key that signs your choices. Write it down outside\n" +
			"this machine, or keep it in a password manager that asks for a password of its own: anyone who has it\n" +
			"can approve calls. The first code is made while no session of an agent is active; that it was made is\n" +
			"shown at the start of the next ten sessions.\n\n" +
			"--lost starts over without the earlier code: the state directory is moved aside, stopped sessions stay\n" +
			"stopped, and nothing else is taken over. --user states, as an administrator, the fingerprint of a user's\n" +
			"key in a file that only an administrator can change; hooks believe it instead of their own --key.",
		Example: "  reviewer approvals code\n  reviewer approvals code --lost\n  sudo reviewer approvals code --user kim",
		Args:    cli.AtMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name != "" {
				return administer(a, name)
			}
			store, err := a.OpenStore()
			if err != nil {
				return err
			}
			do := signed.Make
			if lost {
				do = signed.Lost
			}
			secret, err := do(cmd.Context(), a, store)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "approval code: %s\nit is not shown again; keep it where no tool of an agent can read it\n", secret)
			return unaware(a, store)
		},
	}
	cmd.Flags().BoolVar(&lost, "lost", false, "start over, because the code is lost")
	cmd.Flags().StringVar(&name, "user", "", "state the fingerprint of the key of this `user`, as an administrator")
	cmd.MarkFlagsMutuallyExclusive("lost", "user")
	return cmd
}

// unaware says which hooks do not know the new key.
func unaware(a *cli.App, store *audit.Store) error {
	pins, err := signed.Pins(a, store.Dir)
	if err != nil {
		return err
	}
	if store.Fingerprint != "" {
		pins = []signed.Pin{{Key: store.Fingerprint}}
	}
	for _, pin := range pins {
		follows, err := signed.Follows(store, pin.Key)
		switch {
		case err != nil:
			return err
		case pin.Agent == "" && !follows:
			fmt.Fprintf(a.Stdout, "it does not count yet: an administrator stated another key, and states this one with "+
				"`reviewer approvals code --user NAME`\n")
		case pin.Layer == settings.LayerUser && (pin.Key == "" || !follows):
			fmt.Fprintf(a.Stdout, "the hook of %s (%s) does not know its key: run `reviewer install %s`, and give the code\n",
				pin.Agent, cli.Masked(pin.File), pin.Agent)
		}
	}
	return nil
}

// administer writes the fingerprint of a user's key where only an administrator can change it. The code shows that the key
// is the person's, and not one that an agent put into their ledger.
func administer(a *cli.App, name string) error {
	who, err := user.Lookup(name)
	if err != nil {
		return fmt.Errorf("--user: %w", err)
	}
	if os.Geteuid() > 0 {
		return cli.Usage("--user is for an administrator: run it with sudo")
	}
	if a.Home == "" {
		a.Home = cli.StateHomeOf(who.HomeDir)
	}
	store := &audit.Store{Dir: a.Home}
	codes := &code.Store{Log: store}
	there, err := codes.Exists()
	switch {
	case err != nil:
		return err
	case !there:
		return fmt.Errorf("%s has no approval code in %s: they make one with `reviewer approvals code`, then run this again "+
			"(--home names another state directory)", name, store.Dir)
	}
	if _, err := a.Person("stating the key of a user"); err != nil {
		return err
	}
	secret, err := a.Secret("approval code of " + name + ": ")
	if err != nil {
		return fmt.Errorf("read the approval code: %w", err)
	}
	if err := codes.Verify(secret); err != nil {
		return err
	}
	key, _, err := store.PersonKey()
	if err != nil {
		return err
	}
	path := cli.KeyFile(filepath.Base(who.Username))
	if err := writeKey(path, key.Fingerprint()); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "wrote %s: the hooks of %s count choices only with the key %s, or one that follows from it\n", path, name,
		key.Fingerprint())
	return nil
}

// writeKey writes the file of a fingerprint. A hook reads the one before or this one.
func writeKey(path, fingerprint string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(fingerprint + "\n")
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
