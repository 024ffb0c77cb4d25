package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

// kinds refuses kinds of intervention from a release that no role with that right has
// signed: they run programs on each machine that has the policy.
func (c *check) kinds() error {
	names, err := bundles.OwnKindsIn(c.files)
	if err != nil {
		return refuse(Unpack, "%s: %w", c.in.File, err)
	}
	if len(names) == 0 {
		return nil
	}
	what := fmt.Sprintf("%s defines kinds of intervention (interventions.kinds: %s)", c.in.File, strings.Join(names, ", "))
	switch {
	case c.trust == nil:
		return refuse(Unsigned, "%s, which only a signed bundle may: create a trust file with a role that has may: [%s] "+
			"(`reviewer policy trust --help`), and have the archive signed by it, or remove them", what, MayInterventions)
	case c.trust.given != nil:
		c.warn("it defines kinds of intervention (interventions.kinds: %s): "+
			"activating it needs signatures of a role that has may: [%s] in the trust file", strings.Join(names, ", "), MayInterventions)
		return nil
	case slices.ContainsFunc(slices.Collect(maps.Values(c.trust.Roles)), c.entitled):
		return nil
	}
	var roles []string
	for _, name := range slices.Sorted(maps.Keys(c.trust.Roles)) {
		if r := c.trust.Roles[name]; slices.Contains(r.May, MayInterventions) {
			roles = append(roles, fmt.Sprintf("%s (%d of %s)", name, r.Threshold, strings.Join(r.Keys, ", ")))
		}
	}
	if len(roles) == 0 {
		return refuse(Threshold, "%s, but no role of the trust file may: give a role of its signers may: [%s] "+
			"in the next version of %s, or remove them", what, MayInterventions, FileName)
	}
	return refuse(Threshold, "%s, but no role that may has signed it: %s; %s, or remove them", what, strings.Join(roles, ", "),
		c.sign(" --add"))
}

// entitled reports whether a role may define kinds of intervention and has signed.
func (c *check) entitled(r Role) bool {
	var signed int64
	for _, name := range r.Keys {
		if c.hasSigned(c.trust.keys[name]) {
			signed++
		}
	}
	return slices.Contains(r.May, MayInterventions) && signed >= r.Threshold
}
