package releasecmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/here"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/ship"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// pulling is what is asked of policy pull.
type pulling struct {
	reaching
	to       string // a folder, or the name of the archive; empty: nothing is written
	activate bool
	hold     here.Request // with activate
	format   string
}

func policyPullCommand(a *cli.App) *cobra.Command {
	var in pulling
	cmd := &cobra.Command{
		Use:   "pull PLACE (-o FOLDER|ARCHIVE | --activate)",
		Short: "Fetch a policy bundle from a registry, a web server or a folder, and verify it",
		Long: "PLACE is one of\n\n" +
			"  oci://HOST/REPOSITORY:TAG            an OCI registry; @sha256:… in place of the tag names one for good\n" +
			"  oci-layout:FOLDER[:TAG]              an OCI layout, for transfer without a network\n" +
			"  https://HOST/PATH.tar.gz             a web server, with the signatures beside it (.dsse.json)\n" +
			"  FOLDER or ARCHIVE                    files\n\n" +
			"The signatures come first: where the trust file does not accept them, nothing more is\n" +
			"fetched. The archive is held against the digest that was signed, and is written only\n" +
			"if all of `reviewer policy verify` but its sequence and compiling is fine; --activate\n" +
			"looks at these, too, as `reviewer policy activate` does. Without a trust file the\n" +
			"answer says 'unsigned'.\n\n" +
			"An archive that is here already is not fetched again: of a web server its ETag tells,\n" +
			"which is kept in ARCHIVE" + etagSuffix + ".",
		Example: "  reviewer policy pull oci://registry.example.com/policy/agents:stable --activate\n" +
			"  reviewer policy pull https://policy.example.com/bundles/agents.tar.gz -o agents.tar.gz",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := in.known(); err != nil {
				return err
			}
			doc, err := pull(cmd.Context(), a, &in, args[0])
			if doc != nil {
				err = errors.Join(showPulled(a, doc, in.format), err)
			}
			return err
		},
	}
	in.reaching.flags(cmd)
	f := cmd.Flags()
	f.StringVarP(&in.to, "output", "o", "", "put the archive and its signatures into this folder, or the archive into this file")
	f.StringVarP(&in.format, "format", "f", "text", "format of what is printed: text, json")
	f.BoolVar(&in.activate, "activate", false, "let it hold from the next call on, as policy activate does")
	f.StringVar(&in.hold.Layer, "layer", "", "with --activate: refuse the bundle unless it is of this layer")
	f.BoolVar(&in.hold.AllowRollback, "allow-rollback", false, "with --activate: allow a lower sequence than was seen; needs --reason")
	f.StringVar(&in.hold.Reason, "reason", "", "with --activate: why, for the log")
	return cmd
}

func (in *pulling) known() error {
	switch {
	case in.to == "" && !in.activate:
		return errors.New("say where it is to go: -o FOLDER, -o ARCHIVE, or --activate")
	case !in.activate && (in.hold.Layer != "" || in.hold.AllowRollback || in.hold.Reason != ""):
		return errors.New("--layer, --allow-rollback and --reason are for --activate; leave them out, or give it")
	}
	format := term.Output{Format: in.format, Formats: []string{"text", "json"}}
	return errors.Join(format.Known(), knownActivation(&in.hold))
}

// pullDocument is what pull -f json writes.
type pullDocument struct {
	Place     string          `json:"place"` // where it came from, by its digest where it has one
	Written   string          `json:"written,omitempty"`
	Unchanged bool            `json:"unchanged"` // the archive was here already
	Verdict   trust.Verdict   `json:"verdict"`
	Activated *here.Activated `json:"activated,omitempty"`
}

// pull fetches, checks, writes and activates, and each only after the one before
// went well. A document comes with every refusal.
func pull(ctx context.Context, a *cli.App, in *pulling, place string) (*pullDocument, error) {
	from, err := ship.ParseRef(place)
	if err != nil {
		return nil, err
	}
	options, err := shipOptions(a, in.reaching)
	if err != nil {
		return nil, err
	}
	c, err := customsFor(a)
	if err != nil {
		return nil, err
	}
	if options.Have, err = in.have(from); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, in.timeout)
	defer cancel()
	p, err := ship.Pull(limited, from, options, c.mayFetch)
	if c.verdict.Refused() {
		return &pullDocument{Place: place, Verdict: c.verdict}, refused(c.verdict)
	}
	if err != nil {
		return nil, err
	}
	doc := &pullDocument{Place: p.Place, Unchanged: p.Unchanged, Verdict: c.check(p)}
	if doc.Verdict.Refused() {
		return doc, refused(doc.Verdict)
	}
	if err := in.write(doc, place, p); err != nil {
		return nil, err
	}
	if in.activate {
		in.hold.File, in.hold.Archive, in.hold.Envelope = p.Name, p.Archive, p.Envelope
		doc.Activated, err = activate(ctx, a, in.hold)
	}
	return doc, err
}

func refused(v trust.Verdict) error { return cli.Findings("refused [%s] %s", v.Code, v.Reason) }

// customs is where releases from elsewhere are looked at.
type customs struct {
	trust   *trust.Trust    // nil: there is no trust file
	file    string          // the trust file
	now     trust.Candidate // what is known beside a bundle
	verdict trust.Verdict   // of the last offer
}

func customsFor(a *cli.App) (*customs, error) {
	c := &customs{now: trust.Candidate{Now: time.Now().UnixMilli()}, verdict: trust.Verdict{Unsigned: true}}
	var err error
	c.trust, c.file, err = trustFor(a, &verifying{threshold: 1}, &c.now)
	c.now.Highest = nil // what is fetched is not active yet: activating looks at that
	if refusal := (*trust.Refusal)(nil); errors.As(err, &refusal) {
		return nil, notTrusted(err)
	}
	return c, err
}

// mayFetch looks at the statement of what is offered and at its signatures: all
// that can be said of an archive before it is here.
func (c *customs) mayFetch(o ship.Offer) error {
	in := c.now
	in.File, in.Envelope = o.Name, o.Envelope
	c.verdict = c.trust.Offered(in, o.SHA256)
	c.verdict.TrustFile = c.file
	return c.verdict.Err()
}

// check looks at all of what came, but for whether it compiles.
func (c *customs) check(p ship.Parcel) trust.Verdict {
	in := c.now
	in.File, in.Archive, in.Envelope = p.Name, p.Archive, p.Envelope
	v := c.trust.Check(in)
	v.TrustFile = c.file
	return v
}

// etagSuffix is what the file is called that remembers where an archive came from.
const etagSuffix = ".etag.json"

// etag says of an archive in a file under which ETag a server has it.
type etag struct {
	URL    string `json:"url"`
	ETag   string `json:"etag"`
	SHA256 string `json:"sha256"` // of the archive
}

// target is the file that an archive goes to.
func (in *pulling) target(name string) string {
	if info, err := os.Stat(in.to); strings.HasSuffix(in.to, "/") || err == nil && info.IsDir() {
		return filepath.Join(in.to, name)
	}
	return in.to
}

// have returns the archive that is here already; nil: none that could be it.
func (in *pulling) have(from ship.Ref) (*ship.Parcel, error) {
	if in.to == "" || !from.Remote() {
		return nil, nil
	}
	name := in.target(from.FileName())
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil // what is in the way is said when it is written
	}
	raw, err := here.ReadBounded(name, trust.MaxArchive)
	if err != nil {
		return nil, err
	}
	p := &ship.Parcel{Archive: raw}
	var known etag
	doc, err := here.ReadBounded(name+etagSuffix, 64<<10)
	if err == nil && json.Unmarshal(doc, &known) == nil && known.URL == from.String() && known.SHA256 == signing.SHA256(raw) {
		p.ETag = known.ETag
	}
	return p, nil
}

// write puts what was found right in its place.
func (in *pulling) write(doc *pullDocument, place string, p ship.Parcel) error {
	if in.to == "" {
		return nil
	}
	doc.Written = in.target(p.Name)
	p.Name = filepath.Base(doc.Written)
	if err := ship.WritePair(filepath.Dir(doc.Written), p); err != nil {
		return err
	}
	if p.ETag == "" {
		return nil
	}
	raw, err := json.Marshal(etag{place, p.ETag, signing.SHA256(p.Archive)})
	if err != nil {
		return err
	}
	return term.WriteWhole(doc.Written+etagSuffix, append(raw, '\n'))
}

func showPulled(a *cli.App, d *pullDocument, format string) error {
	if format == "json" {
		return term.WriteJSON(a.Stdout, d)
	}
	if err := showVerdict(a, a.Stdout, &verifying{out: term.Output{Format: format}}, &d.Verdict, d.Place); err != nil {
		return err
	}
	switch {
	case d.Written != "" && d.Unchanged:
		fmt.Fprintf(a.Stdout, "The archive %s was here already.\n", term.OneLine(d.Written, 500))
	case d.Written != "":
		fmt.Fprintf(a.Stdout, "Written to %s.\n", term.OneLine(d.Written, 500))
	}
	if d.Activated == nil {
		return nil
	}
	return showActivated(a, a.Stdout, &term.Output{Format: format}, d.Activated)
}
