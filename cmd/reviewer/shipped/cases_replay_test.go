package shipped

import (
	"errors"
	"iter"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// keyframed puts a keyframe before each n-th record, as a log has them: the state
// is taken from what was folded so far, through JSON. It returns lines of a log.
func keyframed(chain iter.Seq2[*engine.Record, error], n int) ([][]byte, error) {
	var all [][]byte
	h := history.New()
	h.Lenient = true // as in a case
	add := func(rec engine.Record) error {
		rec.N = h.N + 1
		h.Append(&rec)
		line, err := engine.EncodeLine(&rec)
		all = append(all, line)
		return err
	}
	i := 0
	for rec, err := range chain {
		if err != nil {
			return nil, err
		}
		if i > 0 && i%n == 0 {
			state, err := h.Encode()
			if err != nil {
				return nil, err
			}
			if err := add(engine.Record{V: rec.V, Kind: engine.KindKeyframe, T: rec.T, Chain: rec.Chain, State: state}); err != nil {
				return nil, err
			}
		}
		if err := add(*rec); err != nil {
			return nil, err
		}
		i++
	}
	return all, nil
}

// Every case with a history, written down and decided again from what was written, comes out
// byte for byte: also from a state that was read back in its middle. Every third
// is; all with REVIEWER_EVERY=1 (`make fidelity`).
func TestCasesReplay(t *testing.T) {
	runner, list := shippedCases(t)
	policy, err := wiring.Compile(t.Context(), wiringtest.Effective(t))
	if err != nil {
		t.Fatal(err)
	}
	find := func(digest string) (*review.Policy, error) {
		if digest != policy.Digest {
			return nil, errors.New("a case of its own settings")
		}
		return policy, nil
	}
	var decisions, keyframes int64
	count := sweep.Count(t, "decisions replayed")
	for i, c := range list {
		if !sweep.Has(i, 3) || c.Settings != nil || c.Layers != nil || len(c.Events) < 2 {
			continue
		}
		lines, err := keyframed(runner.once(t, c).records(), 7)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		report, err := simulate.Replay(t.Context(), decoded(lines), find, cli.Environment())
		if err == nil {
			err = report.Err()
		}
		if err != nil || report.Same != report.Decisions {
			t.Errorf("%s: %d of %d decisions are reproduced: %v", c.Name, report.Same, report.Decisions, err)
		}
		decisions += report.Decisions
		count.Add(report.Decisions)
		keyframes += report.Keyframes
	}
	if decisions < int64(sweep.Some(300, 1000)) || keyframes < int64(sweep.Some(50, 200)) {
		t.Errorf("only %d decisions and %d keyframes were compared", decisions, keyframes)
	}
}
