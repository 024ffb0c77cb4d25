package releasecmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/ship"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/spf13/cobra"
)

// pulling is the flags of policy pull.
type pulling struct {
	connection
	to       string // a folder, or the name of the archive; empty: nothing is written
	activate bool
	hold     active.Request // with activate
	reportTo string         // a folder for the status report; empty: it is sent, if the organisation signed where to
	timer    pullTimer
	out      term.Output // of what is printed
}

func policyPullCommand(a *cli.App) *cobra.Command {
	var in pulling
	place := cli.Argument{Name: "PLACE", What: "oci://HOST/NAME:TAG, oci-layout:FOLDER:TAG, the URL of an archive, or a folder"}
	cmd := &cobra.Command{
		Use:   "pull PLACE (-o FOLDER|ARCHIVE | --activate)",
		Short: "Fetch a policy bundle from a registry, a web server or a folder, and verify it",
		Long: "PLACE is one of\n\n" +
			"  oci://HOST/REPOSITORY:TAG            an OCI registry; @sha256:… instead of the tag pins a digest\n" +
			"  oci-layout:FOLDER[:TAG]              an OCI layout, for transfer without a network\n" +
			"  https://HOST/PATH.tar.gz             a web server, with the signatures next to it (.dsse.json)\n" +
			"  FOLDER or ARCHIVE                    files\n\n" +
			"The signatures are fetched first: if the trust file does not accept them, nothing else is\n" +
			"fetched. The archive is compared with the signed digest, and written only if all\n" +
			"checks of `reviewer policy verify` pass, except sequence and compiling; --activate\n" +
			"checks these as well, like `reviewer policy activate`. Without a trust file the\n" +
			"result says 'unsigned'.\n\n" +
			"If the organisation's signed policy sets releases.report.to, the status of this machine is posted there\n" +
			"afterwards, also after a failure: which releases are active and since when, and codes of problems; no texts or paths.\n\n" +
			"An archive that is already here is not fetched again: for a web server this is decided by\n" +
			"its ETag, which is stored in ARCHIVE" + etagSuffix + ".",
		Example: "  reviewer policy pull oci://registry.example.com/policy/agents:stable --activate\n" +
			"  reviewer policy pull https://policy.example.com/bundles/agents.tar.gz -o agents.tar.gz\n" +
			"  reviewer policy pull oci://registry.example.com/policy/agents:stable --activate --every 1h --install",
		Args: func(cmd *cobra.Command, args []string) error {
			if in.timer.remove && len(args) == 0 {
				return nil
			}
			return cli.Needs(place)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in.timer.given = cmd.Flags().Changed("every")
			if err := in.known(); err != nil {
				return err
			}
			if in.timer.asked() {
				return in.timer.run(a, cmd, args, in.hold.Layer)
			}
			doc, err := pull(cmd.Context(), a, &in, args[0])
			reported, unsent := reportStatus(cmd.Context(), a, &in, doc, err)
			if doc != nil {
				doc.Reported = reported
				err = errors.Join(showPulled(a, doc, &in.out), err)
			}
			if unsent != nil { // which does not change how the pull ended
				fmt.Fprintln(a.Stderr, "reviewer: the status report:", term.OneLine(cli.Masked(unsent.Error()), 500))
			}
			return err
		},
	}
	in.connection.flags(cmd)
	f := cmd.Flags()
	f.StringVarP(&in.to, "output", "o", "", "put the archive and its signatures into this folder, or the archive into this file")
	in.out.FormatFlag(cmd, term.Text, "json")
	in.timer.flags(cmd)
	f.BoolVar(&in.activate, "activate", false, "activate the bundle, as policy activate does")
	f.StringVar(&in.hold.Layer, "layer", "", "with --activate: refuse the bundle unless it is for this layer")
	f.BoolVar(&in.hold.AllowRollback, "allow-rollback", false, "with --activate: allow a release older than the last one; needs --reason")
	f.BoolVar(&in.hold.Resume, "resume", false, "with --activate: activate a bundle that was rolled back here; needs --reason and a person")
	f.StringVar(&in.hold.Channel, "channel", "", "refuse a release on another channel; default: the setting releases.channel")
	f.StringVar(&in.reportTo, "report-to", "", "write the status report of this machine into this folder instead of sending it")
	f.StringVar(&in.hold.Reason, "reason", "", "with --activate: reason to record in the log")
	return cmd
}

func (in *pulling) known() error {
	switch {
	case in.timer.asked() && in.out.Format != term.Text:
		return cli.Usage("-f %s is for a pull; leave it out for a timer", in.out.Format)
	case in.to == "" && !in.activate && !in.timer.remove:
		return cli.Usage("no destination given: use -o FOLDER, -o ARCHIVE, or --activate")
	case !in.activate && !in.timer.remove && (in.hold.Layer != "" || in.hold.AllowRollback || in.hold.Resume || in.hold.Reason != ""):
		return cli.Usage("--layer, --allow-rollback, --resume and --reason need --activate; leave them out, or add it")
	}
	return knownActivation(&in.hold)
}

// pullDocument is what pull -f json writes.
type pullDocument struct {
	Place     string            `json:"place"` // where it came from, by its digest if it has one
	Written   string            `json:"written,omitempty"`
	Unchanged bool              `json:"unchanged"` // the archive was here already
	Verdict   trust.Verdict     `json:"verdict"`
	Activated *active.Activated `json:"activated,omitempty"`
	Reported  string            `json:"reported,omitempty"` // where the status report went
}

// pull fetches, checks, writes and activates, each only if the step before succeeded.
// Every refusal writes a document.
func pull(ctx context.Context, a *cli.App, in *pulling, place string) (*pullDocument, error) {
	from, err := ship.ParseRef(place)
	if err != nil {
		return nil, err
	}
	options, err := shipOptions(a, in.connection)
	if err != nil {
		return nil, err
	}
	c, err := customsFor(a, in.hold.Channel)
	if err != nil {
		return nil, err
	}
	if err := in.clearTarget(); err != nil {
		return nil, err
	}
	if options.Have, err = in.have(from); err != nil {
		return nil, err
	}
	wanted := cmp.Or(c.now.Channel, from.Tag()) // which is usually named after the channel
	options.First = func(envelope []byte) bool { return channelOf(envelope) == wanted }
	limited, cancel := context.WithTimeout(ctx, in.timeout)
	defer cancel()
	p, err := ship.Pull(limited, from, options, c.mayFetch)
	if errors.Is(err, ship.ErrNotFound) {
		return nil, err
	}
	if c.verdict.Refused() {
		return &pullDocument{Place: place, Verdict: c.verdict}, in.refused(c.verdict)
	}
	if err != nil {
		return nil, err
	}
	doc := &pullDocument{Place: p.Place, Unchanged: p.Unchanged, Verdict: c.check(p)}
	if doc.Verdict.Refused() {
		return doc, in.refused(doc.Verdict)
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

// channelOf is the channel that an envelope is for, whoever signed it; empty: unknown.
func channelOf(envelope []byte) string {
	e, err := signing.DecodeEnvelope(envelope)
	if err != nil {
		return ""
	}
	_, release, err := signing.Open[signing.Release](e)
	if err != nil {
		return ""
	}
	return release.Channel
}

func (in *pulling) refused(v trust.Verdict) error {
	text := fmt.Sprintf("refused [%s] %s", v.Code, v.Reason)
	if in.activate {
		text += "; nothing was activated, and `reviewer policy status` shows what is active"
	}
	return cli.Findings("%s", text)
}

// importCheck checks releases from elsewhere.
type importCheck struct {
	trust   *trust.Trust    // nil: there is no trust file
	file    string          // the trust file
	now     trust.Candidate // the context of a check
	verdict trust.Verdict   // of the offer that was accepted, else of the first
}

func customsFor(a *cli.App, channel string) (*importCheck, error) {
	c := &importCheck{now: trust.Candidate{Channel: channel, Now: time.Now().UnixMilli()}, verdict: trust.Verdict{Unsigned: true}}
	var err error
	c.trust, c.file, err = trustFor(a, &verifying{threshold: 1}, &c.now)
	c.now.Highest = nil // what is fetched is not active yet: activation checks that
	if refusal := (*trust.Refusal)(nil); errors.As(err, &refusal) {
		return nil, invalidTrust(err)
	}
	return c, err
}

// mayFetch checks the statement of an offer and its signatures: all that can be checked
// before the archive is fetched.
func (c *importCheck) mayFetch(o ship.Offer) error {
	in := c.now
	in.File, in.Envelope = o.Name, o.Envelope
	v := c.trust.Offered(in, o.SHA256)
	v.TrustFile = c.file
	if c.verdict.Code == "" || !v.Refused() {
		c.verdict = v
	}
	return v.Err()
}

// check checks everything that was fetched, except whether it compiles.
func (c *importCheck) check(p ship.Parcel) trust.Verdict {
	in := c.now
	in.File, in.Archive, in.Envelope = p.Name, p.Archive, p.Envelope
	v := c.trust.Check(in)
	v.TrustFile = c.file
	return v
}

// etagSuffix is the suffix of the file that records the origin of an archive.
const etagSuffix = ".etag.json"

// etag records the ETag of an archive on a server.
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

// clearTarget refuses an output that is clearly neither a folder nor an archive.
func (in *pulling) clearTarget() error {
	if in.to == "" {
		return nil
	}
	info, err := os.Stat(in.to)
	switch {
	case err == nil && info.IsDir():
		return nil
	case strings.HasSuffix(in.to, "/"):
		return fmt.Errorf("-o %s: no such folder; create it first", in.to)
	case !strings.HasSuffix(in.to, ".tar.gz") && !strings.HasSuffix(in.to, ".tgz"):
		return fmt.Errorf("-o %s: no such folder, and an archive's name ends in .tar.gz; "+
			"create the folder, or name an archive", in.to)
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("-o %s is not a regular file; name another", in.to)
	case err == nil:
		return in.mayReplace()
	}
	return nil
}

// mayReplace returns an error if an existing file is not an archive: only archives are
// replaced.
func (in *pulling) mayReplace() error {
	raw, err := active.ReadBounded(in.to, trust.MaxArchive)
	if err != nil {
		return err
	}
	if _, err := bundles.OpenArchive(bytes.NewReader(raw)); err != nil {
		return fmt.Errorf("-o %s exists and is not a policy archive; name another file, or move it away", in.to)
	}
	return nil
}

// have returns the existing archive; nil if there is none.
func (in *pulling) have(from ship.Ref) (*ship.Parcel, error) {
	if in.to == "" || !from.Remote() {
		return nil, nil
	}
	name := in.target(from.FileName())
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil // conflicts are reported when it is written
	}
	raw, err := active.ReadBounded(name, trust.MaxArchive)
	if err != nil {
		return nil, err
	}
	p := &ship.Parcel{Archive: raw}
	var known etag
	doc, err := active.ReadBounded(name+etagSuffix, 64<<10)
	if err == nil && json.Unmarshal(doc, &known) == nil && known.URL == from.String() && known.SHA256 == signing.SHA256(raw) {
		p.ETag = known.ETag
	}
	return p, nil
}

// write writes the checked archive.
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

func showPulled(a *cli.App, d *pullDocument, out *term.Output) error {
	if out.Format == "json" {
		return out.Write(a.Stdout, func(w io.Writer) error { return term.WriteDocument(w, d) })
	}
	if err := showVerdict(a, a.Stdout, &verifying{out: *out}, &d.Verdict, d.Place); err != nil {
		return err
	}
	switch {
	case d.Written != "" && d.Unchanged:
		fmt.Fprintf(a.Stdout, "The archive %s was already here.\n", term.OneLine(d.Written, 500))
	case d.Written != "":
		fmt.Fprintf(a.Stdout, "Written to %s.\n", term.OneLine(d.Written, 500))
	}
	if d.Reported != "" {
		fmt.Fprintf(a.Stdout, "Status reported to %s.\n", term.OneLine(d.Reported, 500))
	}
	if d.Activated == nil {
		return nil
	}
	return showActivated(a, a.Stdout, out, d.Activated)
}
