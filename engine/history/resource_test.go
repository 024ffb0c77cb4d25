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
		use  []float64
		want engine.Growth
	}{
		"nothing":           {nil, engine.Growth{}},
		"zeros":             {[]float64{0, 0, 0, 0}, engine.Growth{}},
		"two bins":          {[]float64{1, 2}, engine.Growth{}},
		"doubles":           {[]float64{1, 2, 4, 8}, engine.Growth{Last: 8, Growth: 2, Fit: 1, Bins: 4}},
		"from nothing":      {[]float64{0, 3, 9, 27}, engine.Growth{Last: 27, Growth: 3, Fit: 1, Bins: 3}},
		"after a break":     {[]float64{9, 1, 2, 4}, engine.Growth{Last: 4, Growth: 2, Fit: 1, Bins: 3}},
		"stops":             {[]float64{1, 2, 4, 4}, engine.Growth{}},
		"shrinks":           {[]float64{8, 4, 2}, engine.Growth{}},
		"by a fixed amount": {[]float64{1, 2, 3, 4, 5, 6, 7}, engine.Growth{Last: 7, Growth: 1.408333, Fit: 0.926926, Bins: 7}},
		"unevenly":          {[]float64{3, 10, 11, 200}, engine.Growth{Last: 200, Growth: 7.538384, Fit: 0.844347, Bins: 4}},
		"huge":              {[]float64{1, maxUse / 2, maxUse}, engine.Growth{Last: maxUse, Growth: 281474976710657, Fit: 0.764994, Bins: 3}},
	} {
		got, ok := growth(test.use)
		if d := cmp.Diff(test.want, got); d != "" || ok != (test.want.Bins > 0) {
			t.Errorf("%s: %v %s", name, ok, d)
		}
	}
}

func TestLn(t *testing.T) {
	for x := 1.0; x < 1e15; x *= 1.37 {
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 1e-14*max(1, want) {
			t.Errorf("ln(%v) is %v, want %v", x, got, want)
		}
	}
	for x, want := range map[float64]uint64{2: 0x3fe62e42fefa39ef, 3: 0x3ff193ea7aad030a, 10: 0x40026bb1bbb55515} {
		if got := math.Float64bits(ln(x)); got != want {
			t.Errorf("ln(%v) is %x, want %x", x, got, want)
		}
	}
}

// sized makes a file of so many bytes, of which the call holds none.
func sized(n int64) engine.Action {
	return engine.Action{Types: []engine.Type{engine.TypeSystemCommand}, Effects: []engine.Effect{{Kind: engine.EffectFileWrite, Bytes: n, Command: -1}}}
}

// written is a write of so many bytes.
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
		"bytes":                          {in(func(s *tale, i int) { times(s.asked(written(100<<i)), binActions-1) }, 5), []engine.Growth{{Resource: "bytes", Last: 1600, Growth: 2, Fit: 1, Bins: 5}}},
		"bytes of a file made to a size": {in(func(s *tale, i int) { times(s.asked(sized(100<<i)), binActions-1) }, 5), []engine.Growth{{Resource: "bytes", Last: 1600, Growth: 2, Fit: 1, Bins: 5}}},
		"bytes, of denied calls":         {in(func(s *tale, i int) { times(s.answered(written(100<<i), engine.Block), binActions) }, 5), []engine.Growth{}},
		"in the bin that fills":          {in(func(s *tale, i int) { times(s.asked(written(100<<i)), binActions-1) }, 3).asked(written(5)), []engine.Growth{{Resource: "bytes", Last: 400, Growth: 2, Fit: 1, Bins: 3}}},
		"agents": {in(func(s *tale, i int) {
			for range 1 << i {
				s.asked(spawn)
			}
			times(s, binActions-1<<i)
		}, 3), []engine.Growth{{Resource: "agents", Last: 4, Growth: 2, Fit: 1, Bins: 3}}},
		"output": {in(func(s *tale, i int) {
			s.ended(command("x", engine.EffectFileRead, "./a"), &engine.ResultFacts{Outcome: engine.OutcomeRan, Content: &engine.ContentFacts{Bytes: 10 << i}})
			times(s, binActions-1)
		}, 4), []engine.Growth{{Resource: "output", Last: 80, Growth: 2, Fit: 1, Bins: 4}}},
		"time": {in(func(s *tale, i int) {
			s.ended(command("x", engine.EffectFileRead, "./a"), &engine.ResultFacts{Outcome: engine.OutcomeRan, MS: 3 << i})
			times(s, binActions-1)
		}, 12), []engine.Growth{{Resource: "time", Last: 6144, Growth: 2, Fit: 1, Bins: 7}}},
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
