package releasecmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/ship"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// reaching is how a place of releases is reached: flags that push and pull share.
type reaching struct {
	username string
	password bool // on standard input
	plain    bool
	timeout  time.Duration
}

func (r *reaching) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.username, "username", "", "name at the registry or server (default: what docker login left for a registry)")
	f.BoolVar(&r.password, "password-stdin", false, "read the password from standard input")
	f.BoolVar(&r.plain, "plain-http", false, "speak without TLS to another machine; this machine is always spoken to so")
	f.DurationVar(&r.timeout, "timeout", 2*time.Minute, "how long it may take")
}

// maxPassword bounds what is read from standard input, in bytes.
const maxPassword = 64 << 10

func shipOptions(a *cli.App, r reaching) (ship.Options, error) {
	o := ship.Options{Username: r.username, PlainHTTP: r.plain}
	switch {
	case r.timeout <= 0:
		return o, fmt.Errorf("--timeout %s: expected a time such as 30s or 5m", r.timeout)
	case (r.username != "") != r.password:
		return o, errors.New("--username and --password-stdin belong together; give both, or none")
	case !r.password:
		return o, nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.Stdin, maxPassword+1))
	if err != nil {
		return o, fmt.Errorf("read the password: %w", err)
	}
	o.Password = strings.TrimRight(string(raw), "\r\n")
	if o.Password == "" || len(raw) > maxPassword {
		return o, errors.New("no password is on standard input, or one that is too long")
	}
	return o, nil
}

// pushDocument is what push -f json writes.
type pushDocument struct {
	Place     string `json:"place"`  // where the release is now, by its digest where it has one
	SHA256    string `json:"sha256"` // of the archive
	Unsigned  bool   `json:"unsigned"`
	Unchanged bool   `json:"unchanged"`          // all of it was there
	Replaced  string `json:"replaced,omitempty"` // digest of what was there under the same name
}

func policyPushCommand(a *cli.App) *cobra.Command {
	var r reaching
	var force bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "push ARCHIVE PLACE",
		Short: "Bring a policy bundle and its signatures to a registry or a folder",
		Long: "PLACE is one of\n\n" +
			"  oci://HOST/REPOSITORY[:TAG]   an OCI registry; OPA's own downloader can pull it, too\n" +
			"  oci-layout:FOLDER[:TAG]       an OCI layout, for transfer without a network\n" +
			"  FOLDER                        which a web server or `reviewer policy serve` has\n\n" +
			"Without a TAG it is the version. The signatures (ARCHIVE" + ship.EnvelopeSuffix + ") go along: in a\n" +
			"registry as a referrer of the release, which gets its tag last. What is there under the\n" +
			"same tag or name is not replaced, unless --force is given.",
		Example: "  reviewer policy push acme-1.4.0.tar.gz oci://registry.example.com/policy/agents:stable\n" +
			"  reviewer policy push acme-1.4.0.tar.gz oci-layout:/media/stick/acme",
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.Known(); err != nil {
				return err
			}
			o, err := shipOptions(a, r)
			if err != nil {
				return err
			}
			o.Force = force
			ctx, cancel := context.WithTimeout(cmd.Context(), r.timeout)
			defer cancel()
			doc, err := push(ctx, args[0], args[1], o)
			if err != nil {
				return err
			}
			return out.Write(a.Stdout, func(w io.Writer) error { return showPushed(a, w, &out, doc) })
		},
	}
	r.flags(cmd)
	cmd.Flags().BoolVar(&force, "force", false, "replace what is there under the same tag or name")
	out.Flags(cmd, "text", "json")
	return cmd
}

func push(ctx context.Context, archive, place string, o ship.Options) (*pushDocument, error) {
	to, err := ship.ParseRef(place)
	if err != nil {
		return nil, err
	}
	p, err := parcel(archive)
	if err != nil {
		return nil, err
	}
	r, err := ship.Push(ctx, to, p, o)
	if err != nil {
		return nil, err
	}
	return &pushDocument{r.Place, r.SHA256, !r.Signed, r.Unchanged, r.Replaced}, nil
}

// parcel reads an archive and what lies beside it, and refuses what does not
// belong together.
func parcel(path string) (ship.Parcel, error) {
	in := here.Request{}
	if err := in.Read(path); err != nil {
		return ship.Parcel{}, err
	}
	if err := ship.Matches(in.Archive, in.Envelope); err != nil {
		return ship.Parcel{}, fmt.Errorf("%s: %w", path, err)
	}
	p := ship.Parcel{Name: filepath.Base(path), Archive: in.Archive, Envelope: in.Envelope}
	var err error
	if p.Label, err = labelOf(path, p); err != nil {
		return ship.Parcel{}, err
	}
	return p, nil
}

// labelOf says what is in an archive, as it was signed, else as it was built. One
// that was made elsewhere and that nobody signed has no label.
func labelOf(path string, p ship.Parcel) (ship.Label, error) {
	if p.Envelope != nil {
		e, err := signing.DecodeEnvelope(p.Envelope)
		if err != nil {
			return ship.Label{}, err
		}
		_, r, err := signing.Open[signing.Release](e)
		return ship.Label{Name: r.Name, Version: r.Version, Sequence: r.Sequence, Digest: r.Policy}, err
	}
	raw, err := here.ReadBounded(path+bundles.ResultsSuffix, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return ship.Label{}, nil
	}
	if err != nil {
		return ship.Label{}, err
	}
	r, err := bundles.ReadResults(bytes.NewReader(raw), p.Archive)
	if err != nil {
		return ship.Label{}, fmt.Errorf("%s%s: %w", path, bundles.ResultsSuffix, err)
	}
	return ship.Label{Name: r.Name, Version: r.Version, Sequence: r.Sequence, Digest: r.Policy}, nil
}

func showPushed(a *cli.App, w io.Writer, out *term.Output, d *pushDocument) error {
	if out.Format == "json" {
		return term.WriteJSON(w, d)
	}
	p := a.Paint(out)
	word := "pushed"
	if d.Unchanged {
		word = "there already"
	}
	fmt.Fprintf(w, "%s: %s\n  archive sha256:%s\n", word, term.OneLine(d.Place, 500), d.SHA256)
	if d.Replaced != "" {
		fmt.Fprintf(w, "  in place of %s\n", term.OneLine(d.Replaced, 100))
	}
	if d.Unsigned {
		fmt.Fprintf(w, "  %s: there is no envelope beside the archive; `reviewer policy sign` makes one\n", p.Colour("33;1", "unsigned"))
	}
	return nil
}
