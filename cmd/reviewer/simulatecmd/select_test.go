package simulatecmd

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

func TestParseSample(t *testing.T) {
	for text, want := range map[string]string{
		"10%": "10%", "1/10": "10%", "0.1": "10%", "100%": "100%", "1": "100%", "12.5%": "12.5%", "1/3": "1/3", "0.001%": "0.001%", "2/6": "1/3",
		"0": "", "0%": "", "101%": "", "1.1": "", "-1/2": "", "": "", "%": "", "1/0": "", "a": "", "1e-99999999": "", "10 %": "", "0x1": "", "1/2/3": "", "NaN": "",
	} {
		share, err := parseSample(text)
		if (err == nil) != (want != "") {
			t.Errorf("%q: error %v", text, err)
		} else if err != nil && !strings.Contains(err.Error(), "such as 10% or 1/10") {
			t.Errorf("%q: %v does not say what is right", text, err)
		} else if err == nil && shareText(share) != want {
			t.Errorf("%q is %s, want %s", text, shareText(share), want)
		}
	}
	if got := shareText(nil); got != "" {
		t.Errorf("all is written as %q", got)
	}
}

func TestParseShard(t *testing.T) {
	for text, want := range map[string]simulate.Shard{
		"1/1": {Index: 1, Of: 1}, "2/7": {Index: 2, Of: 7}, "7/7": {Index: 7, Of: 7},
		"0/7": {}, "8/7": {}, "-1/7": {}, "1": {}, "": {}, "1/": {}, "/7": {}, "a/b": {}, "1/7/7": {}, "1/99999999": {},
	} {
		got, err := parseShard(text)
		if (err == nil) != (want.Of > 0) || err == nil && *got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// Each name is in exactly one shard, shards are of about one size, also those of
// a sample, and what a small sample holds a larger one does, too.
func TestPortion(t *testing.T) {
	const names, shards = 7000, 7
	tenth, half := big.NewRat(1, 10), big.NewRat(1, 2)
	all, sampled := make([]int, shards), make([]int, shards)
	inTenth := 0
	for i := range names {
		name := fmt.Sprintf("session-%d", i)
		found := 0
		for s := range shards {
			p := selection{shard: &simulate.Shard{Index: s + 1, Of: shards}}
			if p.hasSession(name) {
				found++
				all[s]++
			}
			if p.share = half; p.hasSession(name) {
				sampled[s]++
			}
		}
		if found != 1 {
			t.Fatalf("%s is in %d shards", name, found)
		}
		if (selection{share: tenth}).hasSession(name) {
			inTenth++
			if !(selection{share: half}).hasSession(name) {
				t.Errorf("%s is in a tenth, and not in a half", name)
			}
		}
	}
	for s := range shards {
		if all[s] < 900 || all[s] > 1100 || sampled[s] < 400 || sampled[s] > 600 {
			t.Errorf("shard %d has %d of %d names, and %d of a half of them", s+1, all[s], names, sampled[s])
		}
	}
	if inTenth < names/10-100 || inTenth > names/10+100 {
		t.Errorf("a tenth of %d is %d", names, inTenth)
	}
}

func TestCheckTools(t *testing.T) {
	known := classify.NewRows([]rows.Layer{{Name: "base", Files: map[string][]byte{"tools/a.yaml": []byte("Bash Read Write:\n  action: code.exec\n")}}})
	for name, near := range map[string]string{"Bash": "", "bash": "Bash", "Bsh": "Bash", "WRITE": "Write", "mcp__shop__Bash": "", "deploy_everything": ""} {
		err := checkTools([]string{"Read", name}, known)
		if (err == nil) != (near == "") || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("did you mean %q?", near)) {
			t.Errorf("%s: %v, want a hint at %q", name, err, near)
		}
	}
	if checkTools([]string{""}, known) == nil {
		t.Error("a tool without a name is accepted")
	}
}

func TestUserOf(t *testing.T) {
	for dir, want := range map[string]string{
		"/home/ann/shop": "ann", "/Users/ann": "ann", "C:/Users/ann/shop": "ann", "/root/x": "root", "/srv/shop": "", "": "",
	} {
		if got := userOf(dir); got != want {
			t.Errorf("%q: user %q, want %q", dir, got, want)
		}
	}
}

func TestCheckRules(t *testing.T) {
	old, now := &simulate.Named{Rules: []string{"disk_write"}}, &simulate.Named{Patterns: []string{"loop"}}
	if err := checkRules([]string{"disk_write", "loop"}, old, now); err != nil {
		t.Error(err)
	}
	if err := checkRules([]string{"disk_writes"}, old, now); err == nil {
		t.Error("a rule that no policy has is accepted")
	}
	if err := checkRules([]string{"older"}, &simulate.Named{Recorded: true}, now); err != nil {
		t.Errorf("what was recorded may name other rules: %v", err)
	}
}
