package checkpointcmd

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/checkpoint"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

func TestQuestion(t *testing.T) {
	for _, c := range []struct {
		args  []string
		dash  int
		to    string
		paths []string
	}{
		{[]string{"3"}, -1, now, nil},
		{[]string{"3", "4"}, -1, "4", nil},
		{[]string{"3", "now", "src"}, -1, now, []string{"src"}},
		{[]string{"3", "1f2e3d4c-9", "a", "b"}, -1, "1f2e3d4c-9", []string{"a", "b"}},
		{[]string{"3", "src"}, -1, now, []string{"src"}},
		{[]string{"3", "4"}, 1, now, []string{"4"}}, // reviewer checkpoint diff 3 -- 4
		{[]string{"3", "4", "5"}, 2, "4", []string{"5"}},
	} {
		q := question(c.args, c.dash)
		if q.from != c.args[0] || q.to != c.to || !slices.Equal(q.paths, c.paths) {
			t.Errorf("%q, -- at %d: %+v, want to %s, paths %q", c.args, c.dash, q, c.to, c.paths)
		}
	}
}

func TestNamesCheckpoint(t *testing.T) {
	for word, want := range map[string]bool{"latest": true, "1": true, "17": true, "1f2e3d4c-17": true,
		"0": false, "-1": false, "1f2e3d4c-": false, "1f2e3d4c-0": false, "../1f2e3d4c-1": false, "1f2e3d4-1": false, "src": false, "": false} {
		if namesCheckpoint(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
}

// taken lists checkpoints, one a minute, of these sessions; by hand where there is none.
func takenFor(sessions ...string) []checkpoint.Checkpoint {
	var list []checkpoint.Checkpoint
	for i, session := range sessions {
		c := checkpoint.Checkpoint{N: int64(i + 1), T: int64(i+1) * 60_000, When: checkpoint.BeforeCall, Session: session}
		if session == "" {
			c.When = checkpoint.ByHand
		}
		list = append(list, c)
	}
	return list
}

func TestRetention(t *testing.T) {
	k := Retention{AfterEnd: 30 * time.Minute, Idle: 24 * time.Hour, ByHand: 100 * time.Minute}
	const minute = 60_000
	for name, c := range map[string]struct {
		list  []checkpoint.Checkpoint
		lives map[string]life
		now   int64
		want  int64
	}{
		"the session is open": {takenFor("a", "a"), map[string]life{"a": {}}, 999 * minute, 1},
		"the session is stopped": {takenFor("a", "a"),
			map[string]life{"a": {stopped: true, ended: minute}}, 999 * minute, 1},
		"the session ended a short time ago":  {takenFor("a", "a"), map[string]life{"a": {ended: 980 * minute}}, 999 * minute, 1},
		"the session ended a long time ago":   {takenFor("a", "a"), map[string]life{"a": {ended: 5 * minute}}, 999 * minute, 2},
		"another session goes on":             {takenFor("a", "a", "b", "b"), map[string]life{"a": {ended: 2 * minute}, "b": {}}, 999 * minute, 3},
		"there is no log of the session":      {takenFor("a", "a"), nil, 999 * minute, 2},
		"no log, but it was a short time ago": {takenFor("a", "a"), nil, 20 * minute, 1},
		"by hand, a while ago":                {takenFor("a", "", "a", "a"), map[string]life{"a": {ended: 4 * minute}}, 90 * minute, 2},
		"by hand, a long time ago":            {takenFor("a", "", "a", "a"), map[string]life{"a": {ended: 4 * minute}}, 999 * minute, 4},
		"an ended session before one that waits": {takenFor("a", "b", "a"),
			map[string]life{"a": {ended: 3 * minute}, "b": {stopped: true}}, 999 * minute, 2},
	} {
		if got := k.oldest(c.list, c.lives, c.now); got.N != c.want {
			t.Errorf("%s: the oldest that is kept is %d, want %d", name, got.N, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	list := takenFor("a", "b", "a", "a", "b")
	list[3].When, list[4].ID = checkpoint.BeforeRestore, "used by d"
	for name, c := range map[string]struct {
		session       string
		began, oldest int64
		want          int64 // 0: none is suitable
	}{
		"the newest before the trouble":    {"a", 200_000, 1, 3},
		"not one that a restore took":      {"a", 999_000, 1, 3},
		"the first if all are later":       {"a", 10, 1, 1},
		"only of the session":              {"b", 290_000, 1, 2},
		"not one that expired":             {"a", 100_000, 2, 3},
		"all expired":                      {"a", 999_000, 9, 0},
		"no checkpoint of the session":     {"c", 999_000, 1, 0},
		"of another session, and used":     {"d", 999_000, 1, 5},
		"the first one of another session": {"b", 10, 1, 2},
	} {
		got, err := (&choice{session: c.session, began: c.began, oldest: c.oldest, depth: 3, unsafe: map[string]bool{"used by " + c.session: false}}).among(list)
		unsuitable := (*Unsuitable)(nil)
		if got.N != c.want || (c.want == 0) != errors.As(err, &unsuitable) {
			t.Errorf("%s: %d %v, want %d", name, got.N, err, c.want)
		}
	}
}

// No more checkpoints are looked at than the policy says. Who wants to go further back is
// told how.
func TestDepth(t *testing.T) {
	list := takenFor("a", "a", "a", "a")
	for i := range list {
		list[i].ID = fmt.Sprintf("1f2e3d4c-%d", i+1)
	}
	list[3].When, list[3].Call = checkpoint.AfterCall, "c9"
	for name, c := range map[string]struct {
		depth  int
		unsafe []string
		want   int64  // 0: none
		said   string // then
	}{
		"the newest":                        {1, nil, 4, ""},
		"one that is not safe":              {2, []string{"1f2e3d4c-4"}, 3, ""},
		"one after a call that failed":      {2, []string{"after c9"}, 3, ""},
		"all within the depth are not safe": {2, []string{"1f2e3d4c-4", "1f2e3d4c-3"}, 0, "max_rollback_depth is 2; `reviewer checkpoint restore 1f2e3d4c-2`"},
		"nor the one before":                {1, []string{"1f2e3d4c-4", "1f2e3d4c-3"}, 0, "`reviewer checkpoint restore 1f2e3d4c-2` restores the safe one"},
		"none is safe": {7, []string{"1f2e3d4c-4", "1f2e3d4c-3", "1f2e3d4c-2", "1f2e3d4c-1"}, 0,
			"the latest 4 checkpoints .*`reviewer checkpoint restore 1f2e3d4c-4` restores the latest of them nevertheless"},
	} {
		unsafe := map[string]bool{}
		for _, id := range c.unsafe {
			unsafe[id] = true
		}
		got, err := (&choice{session: "a", began: 999_000, oldest: 1, depth: c.depth, unsafe: unsafe}).among(list)
		if got.N != c.want || c.want == 0 && !regexp.MustCompile(c.said).MatchString(fmt.Sprint(err)) {
			t.Errorf("%s: %d, %v", name, got.N, err)
		}
	}
}

func TestGitAdvice(t *testing.T) {
	was := repository{Folder: ".", Head: "refs/heads/main", Commit: "aaaa", Index: "1", Stash: "s1"}
	change := func(fn func(*repository)) repository {
		is := was
		fn(&is)
		return is
	}
	for name, c := range map[string]struct {
		was, is repository
		want    []string
	}{
		"nothing": {was, was, nil},
		"another branch": {was, change(func(r *repository) { r.Head, r.Commit = "refs/heads/x", "bbbb" }),
			[]string{"git symbolic-ref HEAD refs/heads/main"}},
		"a commit":  {was, change(func(r *repository) { r.Commit = "bbbb" }), []string{"git reset --soft aaaa"}},
		"the index": {was, change(func(r *repository) { r.Index = "2" }), []string{"git status"}},
		"the stash": {was, change(func(r *repository) { r.Stash = "" }), []string{"git stash list"}},
		"in a folder": {repository{Folder: "a b", Head: "aaaa", Commit: "aaaa"}, repository{Folder: "a b", Head: "bbbb", Commit: "bbbb"},
			[]string{"git -C 'a b' update-ref --no-deref HEAD aaaa"}},
	} {
		if got := gitAdvice(c.was, c.is); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestUndiffable(t *testing.T) {
	file := &checkpoint.Entry{Kind: checkpoint.File, Size: 10}
	for name, c := range map[string]struct {
		change checkpoint.Change
		want   string
	}{
		"a text": {checkpoint.Change{Before: file, After: &checkpoint.Entry{Kind: checkpoint.File, Size: 9}}, ""},
		"encrypted": {checkpoint.Change{After: &checkpoint.Entry{Kind: checkpoint.File, Sealed: true}},
			"encrypted, since such files hold secrets; the contents are not shown"},
		"large": {checkpoint.Change{Before: file, After: &checkpoint.Entry{Kind: checkpoint.File, Size: 3 << 20}},
			"large, 10 -> 3.0M bytes"},
		"left out": {checkpoint.Change{Before: file, After: &checkpoint.Entry{Kind: checkpoint.LeftOut, Why: "too big"}},
			"not stored: too big"},
		"a link":           {checkpoint.Change{After: &checkpoint.Entry{Kind: checkpoint.Link, Target: "a"}}, "link -> a"},
		"a file, a folder": {checkpoint.Change{Before: file, After: &checkpoint.Entry{Kind: checkpoint.Folder}}, "file -> folder"},
	} {
		shown := changesOf([]checkpoint.Change{c.change}, func(s string) string { return s })[0]
		if got := undiffable(c.change, shown); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// How long checkpoints are kept is a setting of the policy.
func TestRetentionSettings(t *testing.T) {
	got := retention(&settings.Interventions{CheckpointRetentionMinutes: 30,
		CheckpointRetention: settings.InterventionsCheckpointRetention{IdleHours: 24, ByHandDays: 7}})
	if want := (Retention{AfterEnd: 30 * time.Minute, Idle: 24 * time.Hour, ByHand: 7 * 24 * time.Hour}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
