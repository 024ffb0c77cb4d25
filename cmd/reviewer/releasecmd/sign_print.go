package releasecmd

import (
	"fmt"
	"io"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
)

// signedArchive is what policy sign prints with -f json.
type signedArchive struct {
	Archive  string          `json:"archive"`
	Envelope string          `json:"envelope"`
	SHA256   string          `json:"sha256"` // of the archive
	Release  signing.Release `json:"release"`
	Signed   []signedWith    `json:"signed"` // with the keys that were given
	Others   int             `json:"others"` // further signatures in the envelope, not checked here
}

type signedWith struct {
	ID   string       `json:"id"`
	Type signing.Type `json:"type"`
}

func printSigned(a *cli.App, job *signingJob, e *signing.Envelope, s *policySign) error {
	subject, release, err := signing.Open[signing.Release](e)
	if err != nil {
		return err
	}
	r := signedArchive{Archive: job.path, Envelope: job.path + envelopeSuffix, SHA256: subject.SHA256,
		Release: release, Signed: []signedWith{}}
	for _, signer := range job.signer {
		k := signer.PublicKey()
		r.Signed = append(r.Signed, signedWith{k.ID(), k.Type()})
	}
	r.Others = len(e.Signatures) - len(job.keys())
	return s.out.Write(a.Stdout, func(w io.Writer) error {
		if s.out.Format == "json" {
			return term.WriteDocument(w, r)
		}
		return r.text(w)
	})
}

// keys are the keys that were signed with, by their ids.
func (j *signingJob) keys() map[string]bool {
	ids := map[string]bool{}
	for _, s := range j.signer {
		ids[s.PublicKey().ID()] = true
	}
	return ids
}

func (r *signedArchive) text(w io.Writer) error {
	rows := [][2]string{
		{"archive", r.Archive}, {"sha256", r.SHA256},
		{"release", fmt.Sprintf("%s %s, sequence %d, channel %s", r.Release.Name, r.Release.Version, r.Release.Sequence, r.Release.Channel)},
		{"policy", r.Release.Policy}, {"created", r.Release.Created.String()}, {"expires", expiresText(r.Release.Expires)},
		{"tests", testsText(r.Release.Tests)}, {"simulation", simulationText(r.Release.Simulation)},
	}
	if r.Release.RollbackOf > 0 {
		rows = append(rows, [2]string{"restores", fmt.Sprintf("sequence %d", r.Release.RollbackOf)})
	}
	for _, k := range r.Signed {
		rows = append(rows, [2]string{"signed with", fmt.Sprintf("%s (%s)", k.ID, k.Type)})
	}
	if r.Others > 0 {
		rows = append(rows, [2]string{"and by", term.Counted(r.Others, "other", "others")})
	}
	for _, row := range append(rows, [2]string{"written", r.Envelope}) {
		if _, err := fmt.Fprintf(w, "%s %s\n", term.Pad(row[0], 11), term.OneLine(row[1], 500)); err != nil {
			return err
		}
	}
	return nil
}

func expiresText(at signing.Time) string {
	if at == 0 {
		return "never"
	}
	return at.String()
}

func testsText(t *signing.Tests) string {
	if t == nil {
		return "skipped"
	}
	text := fmt.Sprintf("%d passed", t.Passed)
	if t.Todo > 0 {
		text += fmt.Sprintf(", %d todo", t.Todo)
	}
	if t.Left > 0 {
		text += fmt.Sprintf(", %d could not run", t.Left)
	}
	return text
}

func simulationText(s *signing.Simulation) string {
	if s == nil {
		return "none included"
	}
	return fmt.Sprintf("%s against %s: %d tightened, %d loosened, %d maybe, %d unknown",
		engine.Counted(s.Decisions, "decision", "decisions"), s.Baseline, s.Tightened,
		s.Loosened, s.Maybe, s.Unknown)
}
