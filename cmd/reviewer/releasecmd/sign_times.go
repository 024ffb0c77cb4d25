package releasecmd

import (
	"fmt"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/signing"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
)

// aheadOf is how far the clock of a machine that signs may be ahead of others.
const aheadOf = 5 * time.Minute

// warnOfTimes warns if machines would reject the times of a release. They are signed
// anyway: a release can be repeated with its original times, and a repeated build
// takes them from SOURCE_DATE_EPOCH.
func (s *policySign) warnOfTimes(a *cli.App, e *signing.Envelope, now time.Time) error {
	_, r, err := signing.Open[signing.Release](e)
	if err != nil {
		return err
	}
	at := signing.TimeOf(now)
	if r.Created > signing.TimeOf(now.Add(aheadOf)) {
		fmt.Fprintf(a.Stderr, "reviewer: warning: the release time %s is in the future: no machine activates it before "+
			"then; correct --created, or leave it out\n", r.Created)
	}
	if r.Expires > 0 && r.Expires <= at {
		fmt.Fprintf(a.Stderr, "reviewer: warning: the release expired at %s: no machine activates it; give a later --expires\n", r.Expires)
	}
	return nil
}
