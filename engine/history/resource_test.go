package history

import (
	"fmt"
	"math"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// The values are exact (fits compared with another computation of them): a machine on which they come out otherwise cannot
// compute a decision again.
func TestGrowth(t *testing.T) {
	for name, test := range map[string]struct {
		use  []int64
		want engine.Growth
	}{
		"nothing":           {nil, engine.Growth{}},
		"zeros":             {[]int64{0, 0, 0, 0}, engine.Growth{}},
		"two bins":          {[]int64{1, 2}, engine.Growth{Last: 2, Bins: 2, Ratios: []float64{2}, Growth: 2, Fit: 1}},
		"doubles":           {[]int64{1, 2, 4, 8}, engine.Growth{Last: 8, Bins: 4, Ratios: []float64{2, 2, 2}, Growth: 2, Fit: 1}},
		"from nothing":      {[]int64{0, 3, 9, 27}, engine.Growth{Last: 27, Bins: 3, Ratios: []float64{3, 3}, Growth: 3, Fit: 1}},
		"after a break":     {[]int64{9, 1, 2, 4}, engine.Growth{Last: 4, Bins: 3, Ratios: []float64{2, 2}, Growth: 2, Fit: 1}},
		"stops":             {[]int64{1, 2, 4, 4}, engine.Growth{}},
		"shrinks":           {[]int64{8, 4, 2}, engine.Growth{}},
		"by a fixed amount": {[]int64{1, 2, 3, 4, 5, 6, 7}, engine.Growth{Last: 7, Bins: 7, Ratios: []float64{2, 1.5, 1.333333, 1.25, 1.2, 1.166667}, Growth: 1.408333, Fit: 0.166667}},
		"unevenly":          {[]int64{3, 10, 11, 200}, engine.Growth{Last: 200, Bins: 4, Ratios: []float64{3.333333, 1.1, 18.181818}, Growth: 7.538384, Fit: 0.666667}},
		"huge":              {[]int64{1, maxUse / 2, maxUse}, engine.Growth{Last: maxUse, Bins: 3, Ratios: []float64{maxUse / 2, 2}, Growth: 281474976710657, Fit: 1}},
	} {
		got, ok := growth(test.use)
		if d := cmp.Diff(test.want, got); d != "" || ok != (test.want.Bins > 0) {
			t.Errorf("%s: %v %s", name, ok, d)
		}
	}
}

// sized makes a file of a given number of bytes, of which the call holds none.
func sized(n int64) engine.Action {
	return engine.Action{Types: []engine.Type{engine.TypeSystemCommand}, Effects: []engine.Effect{{Kind: engine.EffectFileWrite, Bytes: n, Command: -1}}}
}

// written is a write of a given number of bytes.
func written(n int64) engine.Action {
	a := command(fmt.Sprint("write ", n), engine.EffectFileWrite, "./out")
	a.Contents = map[string]engine.ContentFacts{"content": {Bytes: n, MAC: engine.HexSum(fmt.Append(nil, n))}}
	return a
}

func TestGrowing(t *testing.T) {
	spawn := engine.Action{Types: []engine.Type{engine.TypeAgentSpawn}, Fingerprint: "1"}
	in := func(f func(s *tale, bin int), bins int) *tale {
		s := newTale()
		for i := range bins {
			f(s, i)
		}
		return s
	}
	for name, test := range map[string]struct {
		tale *tale
		want []engine.Growth
	}{
		"nothing":                        {newTale(), []engine.Growth{}},
		"as much each time":              {in(func(s *tale, _ int) { times(s, binActions) }, 9), []engine.Growth{}},
		"bytes":                          {in(func(s *tale, i int) { times(s.asked(written(100<<i)), binActions-1) }, 5), []engine.Growth{{Resource: "bytes", Last: 1600, Bins: 5, Ratios: []float64{2, 2, 2, 2}, Growth: 2, Fit: 1}}},
		"bytes of a file made to a size": {in(func(s *tale, i int) { times(s.asked(sized(100<<i)), binActions-1) }, 5), []engine.Growth{{Resource: "bytes", Last: 1600, Bins: 5, Ratios: []float64{2, 2, 2, 2}, Growth: 2, Fit: 1}}},
		"bytes, of denied calls":         {in(func(s *tale, i int) { times(s.answered(written(100<<i), engine.Block), binActions) }, 5), []engine.Growth{}},
		"in the bin that fills":          {in(func(s *tale, i int) { times(s.asked(written(100<<i)), binActions-1) }, 3).asked(written(5)), []engine.Growth{{Resource: "bytes", Last: 400, Bins: 3, Ratios: []float64{2, 2}, Growth: 2, Fit: 1}}},
		"agents": {in(func(s *tale, i int) {
			for range 1 << i {
				s.asked(spawn)
			}
			times(s, binActions-1<<i)
		}, 3), []engine.Growth{{Resource: "agents", Last: 4, Bins: 3, Ratios: []float64{2, 2}, Growth: 2, Fit: 1}}},
		"output": {in(func(s *tale, i int) {
			s.ended(command("x", engine.EffectFileRead, "./a"), &engine.ResultFacts{Outcome: engine.OutcomeRan, Content: &engine.ContentFacts{Bytes: 10 << i}})
			times(s, binActions-1)
		}, 4), []engine.Growth{{Resource: "output", Last: 80, Bins: 4, Ratios: []float64{2, 2, 2}, Growth: 2, Fit: 1}}},
		"time": {in(func(s *tale, i int) {
			s.ended(command("x", engine.EffectFileRead, "./a"), &engine.ResultFacts{Outcome: engine.OutcomeRan, MS: 3 << i})
			times(s, binActions-1)
		}, 12), []engine.Growth{{Resource: "time", Last: 6144, Bins: 7, Ratios: []float64{2, 2, 2, 2, 2, 2}, Growth: 2, Fit: 1}}},
	} {
		if d := cmp.Diff(test.want, test.tale.next(written(1)).Session.Growing); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// Whatever an agent reports, the sums stay numbers that policy can take.
func TestUseIsBounded(t *testing.T) {
	s := newTale()
	for i := range 30 {
		n := []int64{math.MaxInt64, math.MinInt64, 1 << 62, -1}[i%4]
		s.ended(written(n), &engine.ResultFacts{Outcome: engine.OutcomeRan, MS: n, Content: &engine.ContentFacts{Bytes: n}})
	}
	for _, b := range s.h.Bins {
		for i, u := range b.Use {
			if u < 0 || u > maxUse {
				t.Errorf("%s of a bin are %d", engine.Resources()[i], u)
			}
		}
	}
	in := s.next(written(1))
	if _, err := engine.CanonicalOf(&in); err != nil {
		t.Error(err)
	}
	if len(s.h.Bins) > maxBins {
		t.Errorf("%d bins are kept", len(s.h.Bins))
	}
}

func TestSpawned(t *testing.T) {
	spawn := engine.Action{Types: []engine.Type{engine.TypeAgentSpawn}, Fingerprint: "1"}
	s := newTale().asked(spawn).by("sub").asked(spawn).answered(spawn, engine.Block).by("")
	if got := s.next(spawn).Session.Agents; got != 2 {
		t.Errorf("%d agents were started, want 2", got)
	}
}
