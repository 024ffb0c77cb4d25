package simulatecmd

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"math/big"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// selection is the part of the sessions for a run: a sample, and one of several shards
// of it. Both are chosen by a digest of a name, so that every machine selects the
// same.
type selection struct {
	share *big.Rat        // nil: all
	shard *simulate.Shard // nil: all
	whole bool            // only the inputs of the shard are read, so every session in them belongs to it
}

// parseSample reads 10%, 1/10 or 0.1.
func parseSample(text string) (*big.Rat, error) {
	number, percent := strings.CutSuffix(text, "%")
	share, ok := new(big.Rat), false
	if len(number) <= maxShare && strings.Trim(number, "0123456789./") == "" { // an exponent would be written out
		share, ok = share.SetString(number)
	}
	if ok && percent {
		share.Quo(share, big.NewRat(100, 1))
	}
	if !ok || share.Sign() <= 0 || share.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, cli.Usage("--sample %s: expected a share of the sessions above 0 and at most 1, such as 10%% or 1/10", text)
	}
	return share, nil
}

// maxShare bounds the text of a share.
const maxShare = 12

// shareText writes a share as a percentage, or as a fraction if the percentage
// has no finite form: the same text for each way to ask for it.
func shareText(share *big.Rat) string {
	if share == nil {
		return ""
	}
	percent := new(big.Rat).Mul(share, big.NewRat(100, 1))
	if digits, exact := percent.FloatPrec(); exact {
		return percent.FloatString(digits) + "%"
	}
	return share.RatString()
}

// maxShards bounds the number of shards: more would be empty.
const maxShards = 10_000

// parseShard reads i/n, from 1/n to n/n.
func parseShard(text string) (*simulate.Shard, error) {
	first, second, _ := strings.Cut(text, "/")
	i, err := strconv.Atoi(first)
	n, err2 := strconv.Atoi(second)
	if err != nil || err2 != nil || i < 1 || n < i || n > maxShards {
		return nil, cli.Usage("--shard %s: expected i/n, the i-th of n parts, from 1/n to n/n, such as 1/4 (at most %d parts), or auto",
			text, maxShards)
	}
	return &simulate.Shard{Index: i, Of: n}, nil
}

// hasSession reports whether the sessions that belong together under a name are
// part of it.
func (p selection) hasSession(name string) bool { return p.sampled(name) && p.has(name) }

// sampled selects the share of the names with the lowest digests.
func (p selection) sampled(name string) bool {
	if p.share == nil || p.share.Cmp(big.NewRat(1, 1)) == 0 {
		return true
	}
	digest := sha256.Sum256([]byte(name))
	at := new(big.Rat).SetFrac(new(big.Int).SetUint64(binary.BigEndian.Uint64(digest[:8])), new(big.Int).SetUint64(math.MaxUint64))
	return at.Cmp(p.share) < 0
}

// has reports whether a name is in this shard. It uses other bits of the digest than
// the sample, or a small sample would be in one shard.
func (p selection) has(name string) bool {
	if p.shard == nil || p.whole {
		return true
	}
	digest := sha256.Sum256([]byte(name))
	return int(binary.BigEndian.Uint64(digest[8:16])%uint64(p.shard.Of)) == p.shard.Index-1
}

// userOf returns the name of the user in whose home directory a workspace is, by the usual places; empty: none.
func userOf(workspace string) string {
	if home := classify.HomeOf(workspace); home != "" {
		return path.Base(home)
	}
	return ""
}

// checkRules refuses the id of a rule that no policy has. What fired when decisions were recorded is unknown until they are read.
func checkRules(ids []string, policies ...*simulate.Named) error {
	var known []string
	for _, p := range policies {
		if p.Recorded {
			return nil
		}
		known = slices.Concat(known, p.Rules, p.Patterns)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return cli.WithNear(cli.Usage("--rule %s: neither policy has a rule or pattern with this id that can fire", id), id, known)
		}
	}
	return nil
}

// checkFired refuses the id of a rule that the candidate does not have and that did not fire when the decisions were recorded. A part of
// them does not show that.
func checkFired(ids []string, sums []*simulate.Impact) error {
	m := sums[0]
	s := &m.Selection
	filtered := s.Sample != "" || s.Since+s.Until != 0 ||
		len(s.Sessions)+len(s.Tools)+len(s.Workspaces)+len(s.Users)+len(s.Agents)+len(s.Answers) > 0
	if !m.Baseline.Recorded || m.Shard != nil || m.Partial != "" || filtered {
		return nil
	}
	known := slices.Concat(m.Candidate.Rules, m.Candidate.Patterns)
	for _, r := range m.Rules {
		known = append(known, r.ID)
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			return cli.WithNear(cli.Usage("--rule %s: the candidate has no rule or pattern with this id, and none fired in the decisions "+
				"that were read", id), id, known)
		}
	}
	return nil
}

// checkTools refuses a name that looks like a misspelt name of a known tool. Others
// are accepted: every server has tools of its own.
func checkTools(names []string, rows engine.Rows) error {
	known := slices.Sorted(maps.Keys(classify.Tools(rows)))
	for _, name := range names {
		if name == "" {
			return cli.Usage("--tool: expected the name of a tool, such as Bash")
		}
		if slices.Contains(known, name) || strings.HasPrefix(name, "mcp__") {
			continue
		}
		near := engine.Nearest(name, known)
		if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
			near = known[i]
		}
		if near != "" {
			return cli.Usage("--tool %s: unknown tool; did you mean %q?", name, near)
		}
	}
	return nil
}
