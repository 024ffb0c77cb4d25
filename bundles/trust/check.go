package trust

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/diff"
	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/engine"
)

// MaxArchive limits the size of a shipped archive, in bytes.
const MaxArchive = 16 << 20

// skew is the accepted difference between clocks: a release from further in the future
// shows that this machine's clock was set back.
const skew = 10 * time.Minute

// Candidate is a bundle to check, with its context.
type Candidate struct {
	File     string // base name, for messages; the signature counts under any
	Path     string // where a person finds the archive, for messages; empty: it was fetched, or is in the store
	Archive  []byte
	Envelope []byte // of the archive, encoded; nil: there is none

	Name, Channel string // what is requested, such as the active release; empty: anything trusted

	Now    int64 // Unix ms
	Latest int64 // Unix ms of the latest time in the log; 0: none

	// Highest returns the highest sequence of a release seen so far; the zero value if
	// none. Nil: not checked. An error refuses the bundle.
	Highest func(name, channel string) (Highest, error)
	// AllowRollback accepts an older sequence, which the verdict then reports.
	AllowRollback bool

	// Compile makes a policy from the files, and returns the digest of those that
	// count; it is called last. Nil: the bundle is not compiled.
	Compile func(bundles.Memory) (digest string, err error)
}

// Highest is the newest version of a release that was seen.
type Highest struct {
	Sequence int64  `json:"sequence"`
	SHA256   string `json:"sha256"` // of the archive
}

// Verdict is the result of a check. The zero value is a refusal.
type Verdict struct {
	Verified bool   `json:"verified"`           // the signatures satisfy the trust file
	Unsigned bool   `json:"unsigned,omitempty"` // there is no trust file: its author is unknown
	Code     Code   `json:"code,omitempty"`     // why it is refused; empty: it is not
	Reason   string `json:"reason,omitempty"`   // the same as a sentence that describes what to do

	File     string           `json:"file"`
	SHA256   string           `json:"sha256"`            // of the archive
	Policy   string           `json:"policy,omitempty"`  // digest of the policy, where it was compiled
	Release  *signing.Release `json:"release,omitempty"` // the signed release; for an unsigned bundle, the data in its manifest
	Signers  []Signer         `json:"signers"`           // keys of the trust file that signed, by name
	Asked    []RequiredRole   `json:"asked"`             // required roles and thresholds
	Rollback bool             `json:"rollback,omitempty"`
	Compiled bool             `json:"compiled"`
	Trust    int64            `json:"trust,omitempty"` // version of the trust file; 0: there is none, or keys were given explicitly
	Warnings []string         `json:"warnings"`

	// Set by the caller.
	TrustFile string        `json:"trust_file,omitempty"` // where it is
	Changes   *diff.Changes `json:"changes,omitempty"`    // against another policy

	Files bundles.Memory `json:"-"` // the bundle's files, if nothing was refused
}

// Signer is a key that signed.
type Signer struct {
	Key string `json:"key"` // its name in the trust file
	ID  string `json:"id"`  // SHA-256 of the key
}

// RequiredRole is a role whose signatures were required.
type RequiredRole struct {
	Role      string `json:"role"`
	Threshold int64  `json:"threshold"`
	Signed    int64  `json:"signed"`
	Why       string `json:"why,omitempty"` // of a role that is required in addition to the channel's own
}

// Refused reports whether the bundle must not be used.
func (v *Verdict) Refused() bool { return v.Code != "" || !v.Verified && !v.Unsigned }

// Err is the refusal as an error; nil if there is none.
func (v *Verdict) Err() error {
	if !v.Refused() {
		return nil
	}
	return &Refusal{v.Code, fmt.Errorf("%s", v.Reason)}
}

// Vocabulary lists the values that a key may have, nil if any are allowed.
func (Verdict) Vocabulary(key string) []string {
	if key == "code" {
		return Codes()
	}
	return nil
}

// Schema describes the verdict's JSON, in which times are strings.
func (v Verdict) Schema(title string) map[string]any {
	schema := engine.Schema(v, title)
	definitions, _ := schema["definitions"].(map[string]any)
	release, _ := definitions["release"].(map[string]any)
	properties, _ := release["properties"].(map[string]any)
	for _, field := range []string{"created", "expires"} {
		properties[field] = map[string]any{"type": "string", "format": "date-time"}
	}
	return schema
}

// Check checks a bundle, in an order in which nothing unsigned is read: the archive
// is only bytes until their digest is known to be signed. A nil Trust means that
// there is no trust file: then the checks that need no key run, and the verdict is
// Unsigned.
func (t *Trust) Check(in Candidate) Verdict {
	c := newCheck(t, in)
	if t == nil {
		return c.run(c.size, c.unsigned, c.unpack, c.claims, c.kinds, c.sequence, c.engine, c.compile)
	}
	return c.run(append(append([]step{c.size}, c.vouched()...), c.unpack, c.manifest, c.kinds, c.compile)...)
}

// Offered checks an archive that has not been fetched, by its claimed SHA-256 (empty:
// unknown), as Check does before it unpacks. If it is not refused, it may be fetched;
// Check then verifies its contents. The verdict's SHA256 is the expected one; without
// a trust file everything may be fetched.
func (t *Trust) Offered(in Candidate, sha256 string) Verdict {
	c := newCheck(t, in)
	c.v.SHA256 = sha256
	if t == nil {
		return c.run(c.clock, c.unsigned)
	}
	return c.run(append([]step{c.clock}, c.vouched()...)...)
}

type step func() error

// vouched lists the checks that need only the envelope and a digest.
func (c *check) vouched() []step {
	return []step{c.current, c.signatures, c.subject, c.revoked, c.scope, c.thresholds, c.impact, c.sequence, c.fresh, c.engine}
}

func newCheck(t *Trust, in Candidate) *check {
	return &check{in: in, trust: t, v: Verdict{File: in.File, Signers: []Signer{}, Asked: []RequiredRole{}, Warnings: []string{}}}
}

// run stops at the first step that refuses.
func (c *check) run(steps ...step) Verdict {
	for _, s := range steps {
		if err := s(); err != nil {
			c.v.Code, c.v.Reason = CodeOf(err), err.Error()
			return c.v
		}
	}
	c.v.Verified, c.v.Unsigned, c.v.Files = c.trust != nil, c.trust == nil, c.files
	return c.v
}

// check is the state of a check.
type check struct {
	in    Candidate
	trust *Trust
	v     Verdict

	envelope *signing.Envelope
	signed   []signing.PublicKey // those of the trust file that signed
	said     signing.Subject
	release  signing.Release
	channel  Channel
	files    bundles.Memory
}

func (c *check) warn(format string, args ...any) {
	c.v.Warnings = append(c.v.Warnings, fmt.Sprintf(format, args...))
}

func (c *check) size() error {
	if len(c.in.Archive) > MaxArchive {
		return refuse(Unpack, "%s has more than %d MB; pack only the policy", c.in.File, MaxArchive>>20)
	}
	c.v.SHA256 = signing.SHA256(c.in.Archive)
	return c.clock()
}

func (c *check) clock() error {
	if c.in.Now <= 0 {
		return refuse(Expired, "the current time is unknown, so expiry cannot be checked; set the clock")
	}
	return nil
}

// current checks that the trust file has not expired.
func (c *check) current() error {
	c.v.Trust = c.trust.Version
	return c.trust.Current(c.now())
}

// now returns the later of the clock and the latest time in the log.
func (c *check) now() int64 { return max(c.in.Now, c.in.Latest) }

// Current returns an error if the trust file has expired.
func (t *Trust) Current(now int64) error {
	if t.until > 0 && now >= t.until {
		return problem(StateExpired, fmt.Sprintf("expired at %s (version %d)", t.Expires, t.Version),
			fmt.Sprintf("version %d, with a later expiry, is signed and activated (`reviewer policy trust --help` shows how)",
				t.Version+1)).Refuse()
	}
	return nil
}

// signatures finds the keys of the trust file that signed the envelope. Its contents
// are examined only if there are some.
func (c *check) signatures() error {
	if c.in.Envelope == nil {
		return refuse(Unsigned, "%s has no signatures: there is no %s%s next to it; get that file, or %s",
			c.in.File, c.in.File, EnvelopeSuffix, c.sign(""))
	}
	var err error
	if c.envelope, err = signing.DecodeEnvelope(c.in.Envelope); err != nil {
		return refuse(Unsigned, "%s%s is not a valid envelope: %w; get it again, or sign the archive again", c.in.File, EnvelopeSuffix, err)
	}
	if c.signed, err = c.envelope.Signers(c.trust.allKeys()); err != nil {
		return refuse(Unsigned, "%s: %w", c.in.File, err)
	}
	for _, k := range c.signed {
		c.v.Signers = append(c.v.Signers, Signer{c.trust.KeyName(k), k.ID()})
	}
	if len(c.signed) == 0 {
		return refuse(Threshold, "no trusted key has signed %s, which has %s; "+
			"have it signed with a key that `reviewer policy trust show` lists", c.in.File,
			engine.Counted(len(c.envelope.Signatures), "signature", "signatures"))
	}
	if c.said, c.release, err = signing.Open[signing.Release](c.envelope); err != nil {
		return refuse(Unsigned, "the signed statement about %s is not a policy release: %w", c.in.File, err)
	}
	c.v.Release = &c.release
	return nil
}

// subject compares the archive with the signed digest; for an unknown digest it
// records the expected one.
func (c *check) subject() error {
	if c.v.SHA256 == "" {
		c.v.SHA256 = c.said.SHA256
	}
	if c.said.SHA256 != c.v.SHA256 {
		return refuse(Digest, "%s is not what was signed: its SHA-256 is %.16s…, the signatures are for %.16s… (%s); "+
			"get the archive that belongs to the signatures, or sign this one", c.in.File, c.v.SHA256, c.said.SHA256, c.said.Name)
	}
	return nil
}

// revoked refuses an archive that the trust file revokes.
func (c *check) revoked() error {
	if slices.Contains(c.trust.Revoked, c.v.SHA256) {
		r := c.release
		return refuse(Revoked, "version %d of the trust file revokes %s %s, sequence %d, channel %s (SHA-256 %s); "+
			"get a newer release", c.trust.Version, r.Name, r.Version, r.Sequence, r.Channel, c.v.SHA256)
	}
	return nil
}

// scope finds the channel of the release, and checks that it is trusted and requested.
func (c *check) scope() error {
	r, ok := &c.release, false
	switch c.channel, ok = c.trust.Channels[r.Channel]; {
	case c.trust.given != nil:
		c.channel = *c.trust.given
	case !ok:
		return refuse(Scope, "%s is for the channel %s, which the trust file does not have; expected one of %s", c.in.File, r.Channel,
			strings.Join(slices.Sorted(maps.Keys(c.trust.Channels)), ", "))
	case !c.channel.carries(r.Name):
		return refuse(Scope, "%s is a release of %s, which the channel %s does not allow; expected one of %s", c.in.File, r.Name, r.Channel,
			strings.Join(c.channel.Names, ", "))
	}
	if c.in.Name != "" && c.in.Name != r.Name {
		return refuse(Scope, "%s is a release of %s; expected %s", c.in.File, r.Name, c.in.Name)
	}
	if c.in.Channel != "" && c.in.Channel != r.Channel {
		return refuse(Scope, "%s is for the channel %s; expected %s (--channel, or the setting releases.channel: `reviewer policy status`)",
			c.in.File, r.Channel, c.in.Channel)
	}
	return nil
}

func (c *check) thresholds() error { return c.ask(c.channel.Role, "") }

// ask counts the keys of a role that signed.
func (c *check) ask(role, why string) error {
	r := c.trust.Roles[role]
	a := RequiredRole{Role: role, Threshold: r.Threshold, Why: why}
	for _, name := range r.Keys {
		if c.hasSigned(c.trust.keys[name]) {
			a.Signed++
		}
	}
	c.v.Asked = append(c.v.Asked, a)
	if a.Signed >= a.Threshold {
		return nil
	}
	if why != "" {
		why = " (" + why + ")"
	}
	return refuse(Threshold, "%s is signed by %d of the keys of role %s (%s), and %d have to%s; %s",
		c.in.File, a.Signed, role, strings.Join(r.Keys, ", "), a.Threshold, why, c.sign(" --add"))
}

// sign explains how to sign the archive, with a command if its path is known.
func (c *check) sign(flags string) string {
	if c.in.Path != "" {
		return fmt.Sprintf("add a signature: `reviewer policy sign %s%s --signing-key KEY`", c.in.Path, flags)
	}
	return fmt.Sprintf("have the archive that it came from signed (`reviewer policy sign ARCHIVE%s --signing-key KEY`), "+
		"and activate that again", flags)
}

func (c *check) hasSigned(k signing.PublicKey) bool {
	return slices.ContainsFunc(c.signed, func(s signing.PublicKey) bool { return s.ID() == k.ID() })
}

// impact requires a further role if the release may allow more than before.
func (c *check) impact() error {
	gate := c.channel.Impact
	if gate == nil {
		return nil
	}
	why := "asked for always"
	if gate.When == WhenLoosened {
		if why = loosens(c.release.Simulation); why == "" {
			return nil
		}
	}
	return c.ask(gate.Role, why)
}

// loosens reports why a release may allow more than the previous one; empty:
// its simulation shows that it does not. --fail-on loosened>0 of policy simulate
// judges the same numbers.
func loosens(s *signing.Simulation) string {
	if s == nil {
		return "no simulation is attested"
	}
	l := engine.Loosening{Decisions: s.Decisions, Loosened: s.Loosened, Maybe: s.Maybe, Unknown: s.Unknown}
	if why := l.Above(0); why != "" {
		return "the attested simulation " + why
	}
	return ""
}

// sequence refuses an older sequence than the highest seen, and another archive with
// the same sequence. An unsigned bundle may have none.
func (c *check) sequence() error {
	r := &c.release
	if c.in.Highest == nil || r.Sequence == 0 {
		return nil
	}
	seen, err := c.in.Highest(r.Name, r.Channel)
	switch {
	case err != nil:
		err = refuse(Rollback, "earlier releases of %s are unknown, so this may be an older one: %w", r.Name, err)
	case r.Sequence < seen.Sequence:
		err = refuse(Rollback, "%s has sequence %d of %s, but %d was already seen; release the old contents under a higher sequence, "+
			"or roll back on this machine with --allow-rollback and a reason", c.in.File, r.Sequence, r.Name, seen.Sequence)
	case r.Sequence == seen.Sequence && seen.SHA256 != c.v.SHA256:
		err = refuse(Rollback, "%s differs from the archive seen before with sequence %d of %s (SHA-256 %.16s…); "+
			"give each release its own sequence", c.in.File, r.Sequence, r.Name, seen.SHA256)
	default:
		return nil
	}
	if c.in.AllowRollback {
		c.v.Rollback = true
		c.warn("%s", err)
		return nil
	}
	return err
}

// fresh checks the times of the release and its channel.
func (c *check) fresh() error {
	r, now := &c.release, c.now()
	maxAge, _ := ageOf(c.channel.MaxAge) // checked when the file was read
	switch {
	case int64(r.Created) > now+skew.Milliseconds():
		return refuse(Expired, "%s was made at %s, but this machine's clock says %s; set the clock", c.in.File, r.Created, signing.Time(now))
	case r.Expires > 0 && now >= int64(r.Expires):
		return refuse(Expired, "%s expired at %s; release it again, or get a newer one", c.in.File, r.Expires)
	case maxAge > 0 && now >= int64(r.Created)+maxAge.Milliseconds():
		return refuse(Expired, "%s was made at %s, but releases of the channel %s may be at most %s old; release it again, or get a newer one",
			c.in.File,
			r.Created, r.Channel, c.channel.MaxAge)
	}
	if c.in.Latest > c.in.Now+skew.Milliseconds() {
		c.warn("the clock says %s, but the log contains %s, which counts; set the clock", signing.Time(c.in.Now), signing.Time(c.in.Latest))
	}
	return nil
}

func (c *check) engine() error {
	for what, need := range c.release.Requires {
		if what != "engine" {
			return refuse(Engine, "%s requires %s %d, but this reviewer only knows the requirement engine: update reviewer", c.in.File, what, need)
		}
		if need > engine.Version {
			return refuse(Engine, "%s requires engine %d; this reviewer has %d: update reviewer", c.in.File, need, engine.Version)
		}
	}
	return nil
}

// unpack reads the archive within limits, and refuses contents that other readers of
// bundles would interpret differently.
func (c *check) unpack() error {
	archive, err := bundles.OpenArchive(bytes.NewReader(c.in.Archive))
	if err != nil {
		return refuse(Unpack, "%s: %w", c.in.File, err)
	}
	if err := plainNames(archive.Memory); err != nil {
		return refuse(Unpack, "%s: %w", c.in.File, err)
	}
	c.files = archive.Memory
	return nil
}

// plainNames refuses names that differ only in case, and files with a special meaning
// for OPA in any folder: it reads every file with such a name as a manifest,
// signatures or a patch.
func plainNames(files bundles.Memory) error {
	folded := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		low := strings.ToLower(name)
		if other, twice := folded[low]; twice {
			return fmt.Errorf("%s and %s differ only in case, and are the same file on some disks; rename one", other, name)
		}
		folded[low] = name
		switch base := path.Base(low); {
		case name == ".manifest", name == ".signatures.json":
		case strings.HasSuffix(base, ".manifest"), strings.HasSuffix(base, ".signatures.json"):
			return fmt.Errorf("other readers of bundles would read %s as a second one; remove it", name)
		case base == "patch.json":
			return fmt.Errorf("%s makes it a delta bundle, which changes another bundle; ship complete bundles", name)
		}
	}
	return nil
}

// manifest compares the bundle's manifest with the signed release: decisions name the
// former, sequences are counted by the latter.
func (c *check) manifest() error {
	m, err := c.readManifest()
	if err != nil {
		return err
	}
	r := &c.release
	for _, field := range []struct{ what, inside, signed string }{
		{"name", m.Metadata.Name, r.Name},
		{"version", m.Metadata.Version, r.Version},
		{"sequence", strconv.FormatInt(m.Metadata.Sequence, 10), strconv.FormatInt(r.Sequence, 10)},
	} {
		if field.inside != field.signed {
			return refuse(Scope, "%s: its manifest has %s %q, but %q was signed; build it again with the intended value, and sign it", c.in.File,
				field.what, field.inside, field.signed)
		}
	}
	if r.SkippedTests {
		c.warn("it was built without running its tests")
	}
	return nil
}

func (c *check) readManifest() (bundles.Manifest, error) {
	raw, ok := c.files[".manifest"]
	if !ok {
		return bundles.Manifest{}, refuse(Unpack, "%s: .manifest is missing at its top level; build it with `reviewer policy build`", c.in.File)
	}
	m, err := bundles.ReadManifest(raw)
	if err != nil {
		return m, refuse(Unpack, "%s: %w", c.in.File, err)
	}
	return m, nil
}

// unsigned begins the check of a bundle that need not be signed.
func (c *check) unsigned() error {
	if c.in.Envelope != nil {
		c.warn("it has signatures, but there is no trust file that says which to trust: " +
			"`reviewer policy trust add KEY --role root --init` creates one")
	}
	return nil
}

// claims reads the release from the manifest if there is no statement, to prevent
// accidental rollbacks. It has no channel, so it never raises the sequence of a signed
// release.
func (c *check) claims() error {
	m, err := c.readManifest()
	if err != nil {
		return err
	}
	d := m.Metadata
	if c.in.Name != "" && c.in.Name != d.Name {
		return refuse(Scope, "%s is a release of %q; expected %s", c.in.File, d.Name, c.in.Name)
	}
	c.release = signing.Release{Created: c.release.Created, Name: d.Name, Version: d.Version, Sequence: d.Sequence, Revision: m.Revision,
		Requires: d.Requires, SkippedTests: d.TestsSkipped}
	c.v.Release = &c.release
	return nil
}

func (c *check) compile() error {
	if c.in.Compile == nil {
		return nil
	}
	digest, err := c.in.Compile(c.files)
	if err != nil {
		return refuse(Compile, "%s: %w", c.in.File, err)
	}
	if signed := c.release.Policy; signed != "" && digest != signed {
		return refuse(Digest, "%s contains the policy %s, but %s was signed; build and sign it again", c.in.File, digest, signed)
	}
	c.v.Compiled, c.v.Policy = true, digest
	return nil
}
