package releasecmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/osfile"
	"github.com/spf13/cobra"
)

// keygen is the flags of policy keygen.
type keygen struct {
	name, typ, form string
	out             term.Output
}

func policyKeygenCommand(a *cli.App) *cobra.Command {
	var k keygen
	cmd := &cobra.Command{
		Use:   "keygen --out NAME",
		Short: "Create a key pair to sign policies: NAME (private) and NAME.pub (public)",
		Long: "NAME is the private key, readable only by you; it is not encrypted: keep it where\n" +
			"no agent runs, or sign with a KMS or a token instead (policy sign --signing-key\n" +
			"exec:…). Give NAME.pub to those who verify. Existing files are never overwritten.\n" +
			"Keys made with ssh-keygen -t ed25519 or openssl work as well.",
		Example: "  reviewer policy keygen --out release",
		Args:    cli.AtMost(0),
		RunE:    func(*cobra.Command, []string) error { return makeKey(a, &k) },
	}
	cmd.Flags().StringVar(&k.name, "out", "", "file of the private key")
	cmd.Flags().StringVar(&k.typ, "type", signing.Types()[0], "type of the key: "+strings.Join(signing.Types(), ", ")+
		" (which OPA's own signatures need)")
	cmd.Flags().StringVar(&k.form, "key-format", signing.Forms()[0], "format of the key file: "+strings.Join(signing.Forms(), ", "))
	k.out.Flags(cmd, "text", "json")
	return cmd
}

// madeKey is what keygen prints with -f json.
type madeKey struct {
	ID      string       `json:"id"`
	Type    signing.Type `json:"type"`
	Private string       `json:"private"` // file
	Public  string       `json:"public"`
}

func makeKey(a *cli.App, k *keygen) error {
	if k.name == "" {
		return cli.Usage("no file given for the key; name it with --out NAME")
	}
	if err := k.out.Known(); err != nil {
		return err
	}
	key, err := signing.Generate(signing.Type(k.typ))
	if err != nil {
		return cli.Usage("--type: %w", err)
	}
	private, public, err := key.Marshal(signing.Form(k.form), "")
	if err != nil {
		return cli.Usage("--key-format: %w", err)
	}
	made := madeKey{key.PublicKey().ID(), key.PublicKey().Type(), k.name, k.name + ".pub"}
	if err := writeKeys(made, private, public); err != nil {
		return err
	}
	return k.out.Write(a.Stdout, func(w io.Writer) error {
		if k.out.Format == "json" {
			return term.WriteDocument(w, made)
		}
		_, err := fmt.Fprintf(w, "%s  the private key: keep it secret\n%s  the public key: give it to those who verify\nkey %s\n",
			term.Pad(made.Private, len(made.Public)), made.Public, made.ID)
		return err
	})
}

// writeKeys writes both halves, or none.
func writeKeys(made madeKey, private, public []byte) error {
	if err := writeNew(made.Private, private, osfile.CreatePrivate); err != nil {
		return err
	}
	if err := writeNew(made.Public, public, createPublic); err != nil {
		return errors.Join(err, os.Remove(made.Private))
	}
	return nil
}

func createPublic(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// writeNew writes a new file.
func writeNew(path string, content []byte, create func(path string) (*os.File, error)) error {
	f, err := create(path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s already exists, and keys are never overwritten; give another name with --out", path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no folder %s; create it first", path, term.DirOf(path))
	case err != nil:
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path))
	}
	return nil
}
