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
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/ship"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// connection contains the connection flags that push and pull share.
type connection struct {
	username string
	password bool // on standard input
	plain    bool
	timeout  time.Duration
}

func (r *connection) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.username, "username", "", "user name for the registry or server (default: the credentials of docker login, for a registry)")
	f.BoolVar(&r.password, "password-stdin", false, "read the password from standard input")
	f.BoolVar(&r.plain, "plain-http", false, "allow plain HTTP to remote hosts (always used for localhost)")
	f.DurationVar(&r.timeout, "timeout", 2*time.Minute, "time limit")
}

// maxPassword bounds what is read from standard input, in bytes.
const maxPassword = 64 << 10

func shipOptions(a *cli.App, r connection) (ship.Options, error) {
	o := ship.Options{Username: r.username, PlainHTTP: r.plain}
	switch {
	case r.timeout <= 0:
		return o, cli.Usage("--timeout %s: expected a time such as 30s or 5m", r.timeout)
	case (r.username != "") != r.password:
		return o, cli.Usage("--username and --password-stdin must be given together")
	case !r.password:
		return o, nil
	}
	raw, err := io.ReadAll(io.LimitReader(a.Stdin, maxPassword+1))
	if err != nil {
		return o, fmt.Errorf("read the password: %w", err)
	}
	o.Password = strings.TrimRight(string(raw), "\r\n")
	if o.Password == "" || len(raw) > maxPassword {
		return o, errors.New("standard input contains no password, or one that is too long")
	}
	return o, nil
}

// pushDocument is what push -f json writes.
type pushDocument struct {
	Place     string `json:"place"`  // where the release is now, by its digest if it has one
	SHA256    string `json:"sha256"` // of the archive
	Unsigned  bool   `json:"unsigned"`
	Unchanged bool   `json:"unchanged"`          // all of it was there
	Replaced  string `json:"replaced,omitempty"` // digest of the replaced release
}

func policyPushCommand(a *cli.App) *cobra.Command {
	var r connection
	var force bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "push ARCHIVE PLACE",
		Short: "Push a policy bundle and its signatures to a registry or a folder",
		Long: "PLACE is one of\n\n" +
			"  oci://HOST/REPOSITORY[:TAG]   an OCI registry; OPA's own downloader can pull it as well\n" +
			"  oci-layout:FOLDER[:TAG]       an OCI layout, for transfer without a network\n" +
			"  FOLDER                        served by a web server or `reviewer policy serve`\n\n" +
			"TAG defaults to the version. The signatures (ARCHIVE" + ship.EnvelopeSuffix + ") are pushed as well: in a\n" +
			"registry as a referrer of the release, which is tagged last. An existing release with the\n" +
			"same tag or name is not replaced, unless --force is given.",
		Example: "  reviewer policy push acme-1.4.0.tar.gz oci://registry.example.com/policy/agents:stable\n" +
			"  reviewer policy push acme-1.4.0.tar.gz oci-layout:/media/usb/acme",
		Args: cli.Needs(cli.Argument{Name: "ARCHIVE", What: "an archive that `reviewer policy build` wrote"},
			cli.Argument{Name: "PLACE", What: "oci://HOST/NAME:TAG, oci-layout:FOLDER:TAG, or a folder"}),
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
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing release with the same tag or name")
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

// parcel reads an archive and the files next to it, and refuses files that do not belong
// together.
func parcel(path string) (ship.Parcel, error) {
	in := active.Request{}
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

// labelOf describes the contents of an archive, as signed or else as built. An
// unsigned one that was made elsewhere has no label.
func labelOf(path string, p ship.Parcel) (ship.Label, error) {
	if p.Envelope != nil {
		e, err := signing.DecodeEnvelope(p.Envelope)
		if err != nil {
			return ship.Label{}, err
		}
		_, r, err := signing.Open[signing.Release](e)
		return ship.Label{Name: r.Name, Version: r.Version, Sequence: r.Sequence, Digest: r.Policy}, err
	}
	raw, err := active.ReadBounded(path+bundles.ResultsSuffix, 1<<20)
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
		return term.WriteDocument(w, d)
	}
	p := a.Paint(out)
	word := "pushed"
	if d.Unchanged {
		word = "already there"
	}
	fmt.Fprintf(w, "%s: %s\n  archive sha256:%s\n", word, term.OneLine(d.Place, 500), d.SHA256)
	if d.Replaced != "" {
		fmt.Fprintf(w, "  replaces %s\n", term.OneLine(d.Replaced, 100))
	}
	if d.Unsigned {
		fmt.Fprintf(w, "  %s: no envelope next to the archive; `reviewer policy sign` creates one\n", p.Colour("33;1", "unsigned"))
	}
	return nil
}
