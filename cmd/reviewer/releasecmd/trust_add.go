package releasecmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// trustAdding is what is asked of trust add.
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
		Use:   "add KEY --role ROLE",
		Short: "Write the next version of the trust file, with a key more, and say who has to sign it",
		Long: "KEY is a public key: NAME.pub of policy keygen or of ssh-keygen, or PEM. Nothing holds before the\n" +
			"file is signed and put in force by policy trust rotate; so several changes can be made to one draft,\n" +
			"which --from names. Comments are not kept.",
		Example: "  reviewer policy trust add bob.pub --role release --threshold 2 -o trust-2.yaml\n" +
			"  reviewer policy trust add carol.pub --role security --from trust-2.yaml -o trust-2.yaml",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return addTrust(a, &t, args[0]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&t.Roles, "role", nil, "a role of the key: "+trust.Root+
		", which signs the trust file, or one that signs releases; may be repeated")
	f.StringVar(&t.Name, "name", "", "what the key is called in the file (default the name of its file)")
	f.Int64Var(&t.Threshold, "threshold", 0, "how many keys of these roles have to sign (default as it is, 1 of a new role)")
	f.StringArrayVar(&t.channels, "channel", nil,
		"NAME=POLICY: let this policy, such as acme/agents or acme/*, come on this channel; may be repeated")
	f.StringVar(&t.Expires, "expires", "", "until when the trust file holds, such as 2028-01-31T00:00:00Z")
	f.StringVar(&t.from, "from", "", "change this draft instead of the trust file that holds")
	f.BoolVar(&t.first, "init", false, "begin the first trust file")
	t.out.Flags(cmd, "yaml")
	return cmd
}

func addTrust(a *cli.App, t *trustAdding, key string) error {
	if err := errors.Join(t.out.Known(), t.read(key)); err != nil {
		return err
	}
	d, holds, err := trustDraft(a, t)
	if err != nil {
		return err
	}
	if err := d.Add(t.Addition); err != nil {
		return err
	}
	version := int64(1)
	if holds != nil {
		version = holds.Version + 1
	}
	raw, err := d.Encode(version)
	if err != nil {
		return fmt.Errorf("the trust file would not be right yet: %w", err)
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
	}
	return err
}

// read takes what the command line says of the key.
func (t *trustAdding) read(path string) error {
	if len(t.Roles) == 0 {
		return fmt.Errorf("say what the key may do: --role %s, or a role such as --role release", trust.Root)
	}
	text, err := here.ReadBounded(path, signing.MaxKey)
	if err != nil {
		return err
	}
	t.Public = string(text)
	if t.Name == "" {
		base := filepath.Base(path)
		t.Name = strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	}
	t.Channels = map[string]string{}
	for _, one := range t.channels {
		name, policy, ok := strings.Cut(one, "=")
		if !ok || name == "" || policy == "" {
			return fmt.Errorf("--channel %s: expected NAME=POLICY, such as stable=acme/agents", one)
		}
		t.Channels[name] = policy
	}
	return nil
}

// trustDraft returns what is changed, and the trust file that holds; nil: there
// is none.
func trustDraft(a *cli.App, t *trustAdding) (*trust.Document, *trust.Trust, error) {
	log, err := a.OpenStore()
	if err != nil {
		return nil, nil, err
	}
	believed, _, err := here.TrustInForce(log)
	if err != nil {
		return nil, nil, notTrusted(err)
	}
	switch {
	case t.from != "":
		draft, err := readTrust(t.from)
		if err != nil {
			return nil, nil, err
		}
		return draft.Next(), believed.Trust, nil
	case t.first && !believed.None():
		return nil, nil, fmt.Errorf("--init: there is a trust file, %s version %d; leave --init out to write the next version",
			believed.Path, believed.Version)
	case believed.None() && !t.first:
		return nil, nil, errors.New("there is no trust file yet; --init begins the first one, which is believed because you say so")
	case believed.None():
		return trust.Begin(), nil, nil
	}
	return believed.Next(), believed.Trust, nil
}

func readTrust(path string) (*trust.Trust, error) {
	raw, err := here.ReadBounded(path, trust.MaxFile)
	if err != nil {
		return nil, err
	}
	t, err := trust.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// whoSigns says whose signatures a trust file still lacks, and what to do next.
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
	if holds == nil {
		more = " --init"
	}
	if len(lack) > 0 {
		fmt.Fprintf(w, "Version %d has to be signed by %s:\n  reviewer policy trust sign %s --signing-key KEY\nand then put in force:\n",
			next.Version, strings.Join(lack, ", and by "), file)
	} else {
		fmt.Fprintf(w, "Version %d is signed by all that have to. To put it in force:\n", next.Version)
	}
	fmt.Fprintf(w, "  reviewer policy trust rotate %s%s\n", file, more)
}
