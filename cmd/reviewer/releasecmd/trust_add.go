package releasecmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// trustAdding is the flags of trust add.
type trustAdding struct {
	trust.Addition
	channels []string // NAME=POLICY
	from     string
	first    bool // --init
	out      term.Output
}

func trustAddCommand(a *cli.App) *cobra.Command {
	var t trustAdding
	cmd := &cobra.Command{
		Use:   "add KEY… --role ROLE",
		Short: "Add keys and write the next version of the trust file, with the list of required signers",
		Long: "KEY is a public key: NAME.pub from policy keygen or ssh-keygen, or PEM. Nothing takes effect until\n" +
			"the file is signed and activated with policy trust rotate, so one draft can collect several changes;\n" +
			"name it with --from. Comments are not kept.",
		Example: "  reviewer policy trust add bob.pub --role release --threshold 2 -o trust-2.yaml\n" +
			"  reviewer policy trust add carol.pub --role security --from trust-2.yaml -o trust-2.yaml",
		Args: cli.AtLeast(cli.Argument{Name: "KEY", What: "a public key: NAME.pub of `reviewer policy keygen` or ssh-keygen, or PEM"}),
		RunE: func(_ *cobra.Command, args []string) error { return addTrust(a, &t, args) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&t.Roles, "role", nil, "role of the key: "+trust.Root+
		", which signs the trust file, or one that signs releases; may be repeated")
	f.StringVar(&t.Name, "name", "", "name of the key in the trust file, if there is one KEY (default: its file name)")
	f.Int64Var(&t.Threshold, "threshold", 0, "how many keys of these roles must sign (default: unchanged, 1 for a new role)")
	f.StringArrayVar(&t.channels, "channel", nil,
		"NAME=POLICY: allow this policy, such as acme/agents or acme/*, on this channel; may be repeated")
	f.StringVar(&t.Expires, "expires", "", "expiry of the trust file, such as 2028-01-31T00:00:00Z")
	f.StringVar(&t.from, "from", "", "change this draft instead of the active trust file")
	f.BoolVar(&t.first, "init", false, "create the first trust file")
	t.out.Flags(cmd, "yaml")
	return cmd
}

func addTrust(a *cli.App, t *trustAdding, keys []string) error {
	if len(keys) > 1 && t.Name != "" {
		return cli.Usage("--name names one key, and there are %d; add that one by itself", len(keys))
	}
	var all []trust.Addition
	for _, key := range keys {
		one := *t
		if err := errors.Join(t.out.Known(), one.read(key)); err != nil {
			return err
		}
		all = append(all, one.Addition)
	}
	d, holds, err := trustDraft(a, t)
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := d.Add(one); err != nil {
			return err
		}
	}
	return writeDraft(a, t, d, holds)
}

// writeDraft writes the next version of the trust file, and who must sign it.
func writeDraft(a *cli.App, t *trustAdding, d *trust.Document, holds *trust.Trust) error {
	version := int64(1)
	if holds != nil {
		version = holds.Version + 1
	}
	raw, err := d.Encode(version)
	if err != nil {
		return fmt.Errorf("the trust file would not be valid: %w", err)
	}
	next, err := trust.Parse(raw)
	if err != nil {
		return err
	}
	err = t.out.Write(a.Stdout, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
	if err == nil {
		whoSigns(a.Stderr, holds, next, nil, t.out.File)
		hintExpiry(a.Stderr, next)
	}
	return err
}

func trustRemoveCommand(a *cli.App) *cobra.Command {
	var t trustAdding
	cmd := &cobra.Command{
		Use:   "remove NAME…",
		Short: "Remove keys from all roles and write the next version of the trust file, with the list of required signers",
		Long: "NAME is the name of a key in the trust file (`reviewer policy trust show`). A role that has fewer keys than must\n" +
			"sign is an error: lower its threshold in the text, or add a key first and name that draft with --from.",
		Example: "  reviewer policy trust remove bob -o trust-3.yaml\n" +
			"  reviewer policy trust remove bob --from trust-3.yaml -o trust-3.yaml",
		Args: cli.AtLeast(cli.Argument{Name: "NAME", What: "the name of a key; `reviewer policy trust show` lists them"}),
		RunE: func(_ *cobra.Command, names []string) error {
			if err := t.out.Known(); err != nil {
				return err
			}
			d, holds, err := trustDraft(a, &t)
			if err != nil {
				return err
			}
			for _, name := range names {
				if err := d.Remove(name); err != nil {
					return err
				}
			}
			return writeDraft(a, &t, d, holds)
		},
	}
	cmd.Flags().StringVar(&t.from, "from", "", "change this draft instead of the active trust file")
	t.out.Flags(cmd, "yaml")
	return cmd
}

// hintExpiry warns about a first trust file that never expires: keys that are lost or
// stolen would be trusted forever.
func hintExpiry(w io.Writer, next *trust.Trust) {
	if next.Version == 1 && next.Expires == "" {
		fmt.Fprintf(w, "This trust file never expires. With --expires, such as %s, its keys must sign it again before then.\n",
			time.Now().UTC().AddDate(1, 0, 0).Format("2006-01-02T00:00:00Z"))
	}
}

// read reads the key from the command line.
func (t *trustAdding) read(path string) error {
	if len(t.Roles) == 0 {
		return cli.Usage("no role given: use --role %s, or a role such as --role release", trust.Root)
	}
	text, err := active.ReadBounded(path, signing.MaxKey)
	if err != nil {
		return err
	}
	if _, err := signing.ParsePublicKey(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	t.Public = string(text)
	if t.Name == "" {
		base := filepath.Base(path)
		t.Name = strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	}
	t.Channels = map[string][]string{}
	for _, one := range t.channels {
		name, policy, ok := strings.Cut(one, "=")
		if !ok || name == "" || policy == "" {
			return cli.Usage("--channel %s: expected NAME=POLICY, such as stable=acme/agents", one)
		}
		t.Channels[name] = append(t.Channels[name], policy)
	}
	return nil
}

// trustDraft returns the document to change, and the active trust file; nil if there
// is none.
func trustDraft(a *cli.App, t *trustAdding) (*trust.Document, *trust.Trust, error) {
	log, err := a.OpenStore()
	if err != nil {
		return nil, nil, err
	}
	believed, _, err := active.TrustInForce(log)
	if err != nil {
		return nil, nil, invalidTrust(err)
	}
	switch {
	case t.from != "":
		draft, err := readTrust(t.from)
		if err != nil {
			return nil, nil, err
		}
		return draft.Next(), believed.Trust, nil
	case t.first && !believed.None():
		return nil, nil, fmt.Errorf("--init: there already is a trust file, %s version %d; leave --init out to write the next version",
			believed.Path, believed.Version)
	case believed.None() && !t.first:
		return nil, nil, errors.New("there is no trust file yet; --init creates the first one, which no earlier one can confirm")
	case believed.None():
		return trust.Begin(), nil, nil
	}
	return believed.Next(), believed.Trust, nil
}

func readTrust(path string) (*trust.Trust, error) {
	raw, err := active.ReadBounded(path, trust.MaxFile)
	if err != nil {
		return nil, err
	}
	t, err := trust.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// whoSigns lists the signatures that a trust file still lacks, and the next step.
func whoSigns(w io.Writer, holds, next *trust.Trust, e *signing.Envelope, file string) {
	file = cmp.Or(file, "FILE")
	var lack []string
	for _, t := range []*trust.Trust{holds, next} {
		if t == nil {
			continue
		}
		keys, more := t.Missing(e)
		text := fmt.Sprintf("%d of %s (root of version %d)", more, strings.Join(keys, ", "), t.Version)
		if more > 0 && !slices.Contains(lack, text) {
			lack = append(lack, text)
		}
	}
	more := ""
	if holds == nil && next.Version == 1 { // a later version replaces the one that the other machines have
		more = " --init"
	}
	if len(lack) > 0 {
		fmt.Fprintf(w, "Version %d must be signed by %s:\n  reviewer policy trust sign %s --signing-key KEY\nand then activated:\n",
			next.Version, strings.Join(lack, ", and by "), file)
	} else if holds == nil && next.Version > 1 {
		fmt.Fprintf(w, "Version %d has all signatures that it asks for itself. The root keys of version %d, which this machine does not have, "+
			"must have signed it too. To activate it on a machine that has:\n", next.Version, next.Version-1)
	} else {
		fmt.Fprintf(w, "Version %d has all required signatures. To activate it:\n", next.Version)
	}
	fmt.Fprintf(w, "  reviewer policy trust rotate %s%s\n", file, more)
}
