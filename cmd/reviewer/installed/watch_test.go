package installed

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// installation is a temporary one of Claude Code, with what people were told about it.
type installation struct {
	*Watch
	t       *testing.T
	file    string // the settings
	hook    string // the program
	project string
	told    []string
}

func install(t *testing.T, layer string) *installation {
	t.Helper()
	dir := t.TempDir()
	i := &installation{t: t, file: filepath.Join(dir, "home", ".claude", "settings.json"), hook: filepath.Join(dir, "bin", "reviewer-hook"),
		project: filepath.Join(dir, "project")}
	home := filepath.Join(dir, "state")
	i.Watch = &Watch{Home: home, Places: settings.Places{OS: "linux", Home: filepath.Join(dir, "home")}, Log: &audit.Store{Dir: home},
		Workspaces: func() []string { return []string{i.project} }, Now: func() time.Time { return time.UnixMilli(1e12) },
		Tell: func(p Problem, _ bool) { i.told = append(i.told, p.About+": "+p.Text) }}
	for _, folder := range []string{home, filepath.Dir(i.file), filepath.Dir(i.hook), filepath.Join(i.project, ".claude")} {
		i.must(os.MkdirAll(folder, 0o700))
	}
	for _, program := range []string{i.hook, filepath.Join(filepath.Dir(i.hook), "reviewer")} {
		i.must(os.WriteFile(program, []byte("program"), 0o700))
	}
	i.write(layer)
	return i
}

func (i *installation) must(err error) {
	i.t.Helper()
	if err != nil {
		i.t.Fatal(err)
	}
}

// write installs the hooks, as `reviewer install` does.
func (i *installation) write(layer string) {
	i.t.Helper()
	agent, _ := settings.Find(harness.ClaudeCode)
	l := agent.Layers(i.Places)[0]
	raw, err := l.Format.Install(nil, settings.HookCommand{Program: i.hook, Home: i.Home, System: "linux"})
	i.must(err)
	i.must(os.WriteFile(i.file, raw, 0o600))
	if layer == "" {
		return // the first look finds them
	}
	f, err := (&Reader{}).File(settings.Layer{Name: layer, Format: l.Format}, i.file)
	i.must(err)
	i.must(i.Log.Note(context.Background(), engine.Note{What: audit.NoteHooks, Hooks: hooksOf(agent.Name, f, i.Home)}))
}

// look looks, and returns what people were told.
func (i *installation) look() []string {
	i.t.Helper()
	i.told = nil
	i.must(i.Look(context.Background()))
	return i.told
}

// wants fails unless a look tells exactly these texts.
func (i *installation) wants(why string, texts ...string) {
	i.t.Helper()
	got := i.look()
	for n, text := range texts {
		if n >= len(got) || !strings.Contains(got[n], text) {
			i.t.Errorf("%s: told %q, want %q", why, got, texts)
			return
		}
	}
	if len(got) != len(texts) {
		i.t.Errorf("%s: told %q, want %q", why, got, texts)
	}
}

func (i *installation) edit(path, old, new string) {
	i.t.Helper()
	raw, err := os.ReadFile(path)
	i.must(err)
	if !strings.Contains(string(raw), old) {
		i.t.Fatalf("%s does not contain %q:\n%s", path, old, raw)
	}
	i.must(os.WriteFile(path, []byte(strings.ReplaceAll(string(raw), old, new)), 0o600))
}

// TestSettingsAreWatched: whatever is changed in the settings, it is reported once, and again if it comes back.
func TestSettingsAreWatched(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*installation)
		text   string
	}{
		"the file is removed":      {func(i *installation) { i.must(os.Remove(i.file)) }, "are gone with the whole file"},
		"the hooks are removed":    {func(i *installation) { i.must(os.WriteFile(i.file, []byte("{}"), 0o600)) }, "were removed"},
		"the file is cut":          {func(i *installation) { i.must(os.Truncate(i.file, 100)) }, "are ignored by the client"},
		"an empty file":            {func(i *installation) { i.must(os.Truncate(i.file, 0)) }, "were removed"},
		"an event is renamed":      {func(i *installation) { i.edit(i.file, `"PreToolUse"`, `"PreToolUses"`) }, "no longer called for every tool at PreToolUse"},
		"a matcher":                {func(i *installation) { i.edit(i.file, `"matcher": "*"`, `"matcher": "Read"`) }, "no longer called for every tool at PreToolUse"},
		"another program":          {func(i *installation) { i.edit(i.file, i.hook, "/bin/true") }, "start another program, /bin/true"},
		"another state directory":  {func(i *installation) { i.edit(i.file, i.Home, "/elsewhere") }, "name another state directory (/elsewhere)"},
		"a failing hook is passed": {func(i *installation) { i.edit(i.file, " || exit 2", " || true") }, "a failing hook lets the call run"},
		"a time limit":             {func(i *installation) { i.edit(i.file, `"timeout": 30`, `"timeout": 29`) }, "were changed"},
		"all hooks are disabled":   {func(i *installation) { i.edit(i.file, `"hooks": {`, `"disableAllHooks": true, "hooks": {`) }, "disableAllHooks in "},
		"a folder in its place":    {func(i *installation) { i.must(os.Remove(i.file)); i.must(os.Mkdir(i.file, 0o700)) }, "cannot be read"},
	} {
		t.Run(what, func(t *testing.T) {
			i := install(t, settings.LayerUser)
			i.wants("as installed")
			before, err := os.ReadFile(i.file)
			i.must(err)
			for range 2 {
				c.change(i)
				i.wants("changed", c.text)
				i.wants("still changed")
				if text := AtPrompt(t.Context(), i.Log); !strings.Contains(text, c.text) {
					t.Errorf("at the prompt: %q", text)
				}
				i.must(os.RemoveAll(i.file))
				i.must(os.WriteFile(i.file, before, 0o600))
				i.wants("as before")
				if text := AtPrompt(t.Context(), i.Log); text != "" {
					t.Errorf("at the prompt after it was gone: %q", text)
				}
			}
		})
	}
}

// TestOtherChangesAreNot: what a person and the client write to the settings, and to those of a project, is their own.
func TestOtherChangesAreNot(t *testing.T) {
	i := install(t, settings.LayerUser)
	i.wants("as installed")
	i.edit(i.file, `"hooks": {`, `"model": "opus",  "permissions": {"allow": ["Bash(ls)"]}, "hooks": {`)
	i.wants("other keys")
	i.must(os.WriteFile(filepath.Join(i.project, ".claude", "settings.json"), []byte(`{"disableAllHooks": false}`), 0o600))
	i.wants("a switch that is off")
	raw, err := os.ReadFile(i.file)
	i.must(err)
	i.must(os.Remove(i.file))
	i.must(os.WriteFile(i.file, raw, 0o600))
	i.wants("written again")
}

// TestProjectsAreWatched: the settings of a workspace can turn hooks off.
func TestProjectsAreWatched(t *testing.T) {
	for _, name := range []string{"settings.json", "settings.local.json"} {
		i := install(t, settings.LayerUser)
		i.wants("as installed")
		path := filepath.Join(i.project, ".claude", name)
		i.must(os.WriteFile(path, []byte(`{"disableAllHooks": true}`), 0o600))
		i.wants(name, "disableAllHooks in "+path+" turns the hooks of claude-code off")
	}
}

// TestFirstLook: hooks of which the ledger knows nothing are watched from the first look on, also by the next process.
func TestFirstLook(t *testing.T) {
	i := install(t, "")
	i.wants("the first look")
	i.must(os.Remove(i.file))
	next := *i
	next.Watch = &Watch{Home: i.Home, Places: i.Places, Log: &audit.Store{Dir: i.Home}, Now: i.Now,
		Tell: func(p Problem, _ bool) { next.told = append(next.told, p.About+": "+p.Text) }}
	next.wants("the next process", "are gone with the whole file")
	i.wants("the first process, after the second has recorded it")
}

// TestUninstalled: what a person uninstalled is not missed, whether or not it is still there.
func TestUninstalled(t *testing.T) {
	i := install(t, settings.LayerUser)
	i.wants("as installed")
	i.must(i.Log.Note(t.Context(), engine.Note{What: audit.NoteUninstalled, Detail: "by kim: " + audit.Uninstalling([]string{"codex"}, settings.LayerUser)}))
	i.must(i.Log.Note(t.Context(), engine.Note{What: audit.NoteUninstalled, Detail: "by kim: " + audit.Uninstalling([]string{"claude-code"}, "managed")}))
	i.must(os.Remove(i.file))
	i.wants("others were uninstalled", "are gone with the whole file")
	i.must(i.Log.Note(t.Context(), engine.Note{What: audit.NoteUninstalled,
		Detail: "by kim: " + audit.Uninstalling([]string{"codex", "claude-code"}, settings.LayerUser)}))
	i.wants("uninstalled")
	if text := AtPrompt(t.Context(), i.Log); !strings.HasSuffix(text, ". By now, this is as before again") {
		t.Errorf("at the prompt: %q", text)
	}
	i.write(settings.LayerUser)
	i.must(os.Remove(i.file))
	i.wants("installed again", "are gone with the whole file")
}

// TestUninstalledWithoutSignature: where a key counts, only a signed act uninstalls.
func TestUninstalledWithoutSignature(t *testing.T) {
	i := install(t, settings.LayerUser)
	i.must(i.Log.SetPersonKey(t.Context(), engine.PersonKey{Public: strings.Repeat("ab", 32)}, "kim", nil))
	i.wants("as installed")
	i.must(i.Log.Note(t.Context(), engine.Note{What: audit.NoteUninstalled, Detail: audit.Uninstalling([]string{"claude-code"}, settings.LayerUser)}))
	i.must(os.Remove(i.file))
	i.wants("a note", "are gone with the whole file")
}

// TestProgramsAreWatched: a program that is missing is reported until it is there again, one that was replaced once; after an installation,
// the programs are those of the installation.
func TestProgramsAreWatched(t *testing.T) {
	for _, name := range []string{"reviewer", "reviewer-hook"} {
		i := install(t, settings.LayerUser)
		i.wants("as installed")
		path := filepath.Join(filepath.Dir(i.hook), name)
		i.must(os.Rename(path, path+".new"))
		i.wants("missing", "program: the program "+path+" is missing")
		i.wants("still missing")
		i.must(os.Rename(path+".new", path))
		i.wants("back, and nobody knows what was done to it", "program: the program "+path+" was replaced")
		i.Now = func() time.Time { return time.UnixMilli(11e11) }
		i.must(os.WriteFile(path+".new", []byte("PROGRAM"), 0o700))
		i.must(os.Rename(path+".new", path))
		i.wants("replaced", "program: the program "+path+" was replaced")
		i.wants("still replaced")
		i.must(os.WriteFile(path, []byte("pr0gram"), 0o700))
		i.must(os.Chtimes(path, time.UnixMilli(0), time.UnixMilli(0)))
		i.Now = func() time.Time { return time.UnixMilli(2e12) }
		i.wants("overwritten", "program: the program "+path+" was replaced")
		i.must(os.WriteFile(path+".new", []byte("program"), 0o700))
		i.must(os.Rename(path+".new", path))
		i.must(i.Log.Note(t.Context(), engine.Note{What: "install"}))
		i.wants("installed again")
	}
}

// TestSocketIsWatched: a lost socket is told, and that this process cannot listen there again.
func TestSocketIsWatched(t *testing.T) {
	i := install(t, settings.LayerUser)
	lost, failed := false, error(nil)
	i.Restore = func() (bool, error) { return lost, failed }
	i.wants("as installed")
	lost = true
	i.wants("lost", "socket: the socket of the resident process")
	if failed = errors.New("another process serves"); true {
		i.wants("taken", "it cannot listen there again (another process serves)")
	}
	lost, failed = false, nil
	i.wants("as before")
}

// TestStateIsWatched: without its state directory, nothing is recorded and no other is made; what was told is recorded later.
func TestStateIsWatched(t *testing.T) {
	i := install(t, settings.LayerUser)
	i.wants("as installed")
	aside := i.Home + ".aside"
	i.must(os.Rename(i.Home, aside))
	i.wants("moved", "state: the state directory "+i.Home+" is gone")
	i.wants("still moved")
	if _, err := os.Lstat(i.Home); err == nil {
		t.Error("a state directory was made")
	}
	i.must(os.Mkdir(i.Home, 0o700))
	i.wants("replaced", "state: the state directory "+i.Home+" was replaced by another folder")
	if list, err := os.ReadDir(i.Home); err != nil || len(list) > 0 {
		t.Errorf("something was recorded in the other folder: %v, %v", list, err)
	}
	i.must(os.Remove(i.Home))
	i.must(os.Rename(aside, i.Home))
	i.wants("back")
	if text := AtPrompt(t.Context(), i.Log); strings.Count(text, ". By now, it is there again") != 2 {
		t.Errorf("at the prompt: %q", text)
	}
}

// TestLedgerIsWatched: whoever removes or cuts the ledger does not make the process forget what should be installed.
func TestLedgerIsWatched(t *testing.T) {
	i := install(t, settings.LayerUser)
	i.wants("as installed")
	ledger := filepath.Join(i.Home, "ledger")
	i.must(os.Rename(ledger, ledger+".aside"))
	i.must(os.Remove(i.file))
	i.wants("removed", "state: the ledger in "+i.Home+" was removed, cut or replaced")
	i.wants("still removed")
	if _, err := os.Lstat(ledger); err == nil {
		t.Error("another ledger was begun")
	}
	i.must(os.Rename(ledger+".aside", ledger))
	i.wants("restored", "are gone with the whole file")
}

// TestWithoutRecord: people are told, once, what cannot be recorded.
func TestWithoutRecord(t *testing.T) {
	i := install(t, settings.LayerUser)
	i.wants("as installed")
	lock := filepath.Join(i.Home, "ledger", "lock")
	i.must(os.Remove(lock))
	i.must(os.Mkdir(lock, 0o700))
	i.must(os.Remove(i.file))
	for n := range 3 {
		i.told = nil
		if err := i.Look(t.Context()); err == nil || len(i.told) > 1 || (len(i.told) == 1) != (n == 0) {
			t.Errorf("look %d: told %q, %v", n, i.told, err)
		}
	}
	i.must(os.Remove(lock))
	i.wants("recorded at last")
	if text := AtPrompt(t.Context(), i.Log); !strings.Contains(text, "are gone with the whole file") {
		t.Errorf("at the prompt: %q", text)
	}
}

// TestSessionsAreWatched: sessions whose logs are gone are reported once, and new ones are not missed.
func TestSessionsAreWatched(t *testing.T) {
	i := install(t, settings.LayerUser)
	begin := func(session string) {
		err := i.Log.Update(t.Context(), engine.SessionKey{Harness: harness.ClaudeCode, Session: session}, func(h history.Tail) error {
			return h.Append(&engine.Record{Kind: engine.KindOpen, T: 1e12, Open: &engine.Open{Workspace: "/srv"}})
		})
		i.must(err)
	}
	begin("a")
	i.wants("one session")
	begin("b")
	i.wants("another one")
	sessions, aside := i.Log.SessionsDir(), i.Home+".aside"
	i.must(os.Rename(sessions, aside))
	i.wants("all are gone", "state: the log of 2 sessions (claude-code a, claude-code b) is gone from "+sessions)
	i.wants("still gone")
	i.must(os.Rename(aside, sessions))
	i.wants("restored")
	list, err := os.ReadDir(sessions)
	i.must(err)
	i.must(os.RemoveAll(filepath.Join(sessions, list[0].Name())))
	i.wants("one is gone", "state: the log of 1 session (claude-code ")
}

// TestManagedHooksAreRepaired: they are written again, and that is recorded and told; where that fails, it is reported once, and not tried
// at every look.
func TestManagedHooksAreRepaired(t *testing.T) {
	i := install(t, settings.LayerManaged)
	tries, failed := 0, error(nil)
	i.Repair = func(_ context.Context, agent, program string) error {
		if tries++; agent != harness.ClaudeCode || program != i.hook {
			t.Errorf("repair of %s with %s", agent, program)
		}
		if failed == nil {
			i.write(settings.LayerManaged)
		}
		return failed
	}
	i.wants("as installed")
	i.must(os.Remove(i.file))
	i.wants("removed", "the managed hooks were written again")
	if _, err := os.Stat(i.file); err != nil {
		t.Error(err)
	}
	i.wants("repaired")
	if text := AtPrompt(t.Context(), i.Log); !strings.Contains(text, "the managed hooks were written again") || AtPrompt(t.Context(), i.Log) != "" {
		t.Errorf("at the prompt: %q", text)
	}
	failed = errors.New("permission denied")
	i.must(os.Remove(i.file))
	i.wants("removed without a right", "this process could not write them: permission denied")
	i.wants("still removed")
	if tries != 2 {
		t.Errorf("%d tries", tries)
	}
	i.write(settings.LayerManaged)
	i.wants("as before")
	failed = nil
	i.must(os.Remove(i.file))
	i.Now = func() time.Time { return time.UnixMilli(2e12) }
	i.wants("removed again", "the managed hooks were written again")
}

// TestOnlyManagedHooksAreRepaired: a person may remove their own with an editor.
func TestOnlyManagedHooksAreRepaired(t *testing.T) {
	for _, layer := range []string{settings.LayerUser, settings.LayerProject, settings.LayerLocal} {
		i := install(t, settings.LayerUser)
		i.Repair = func(context.Context, string, string) error {
			t.Errorf("hooks of the layer %s were repaired", layer)
			return nil
		}
		i.wants("as installed")
		i.must(os.Remove(i.file))
		i.wants("removed", "are gone with the whole file")
	}
}

// TestEveryAgent: the hooks of each agent are found where they were installed, and missed when they are gone.
func TestEveryAgent(t *testing.T) {
	for _, agent := range settings.Agents() {
		dir := t.TempDir()
		home := filepath.Join(dir, "state")
		i := &installation{t: t}
		var told []string
		i.Watch = &Watch{Home: home, Places: settings.Places{OS: "linux", Home: dir}, Log: &audit.Store{Dir: home},
			Tell: func(p Problem, _ bool) { told = append(told, p.Text) }}
		i.must(os.Mkdir(home, 0o700))
		var files []string
		for _, l := range agent.Targets(i.here(), settings.LayerUser) {
			raw, err := l.Format.Install(nil, settings.HookCommand{Program: "/opt/reviewer", Home: home, System: "linux"})
			i.must(err)
			i.must(os.MkdirAll(filepath.Dir(l.Path), 0o700))
			i.must(os.WriteFile(l.Path, raw, 0o700))
			i.must(Installed(t.Context(), i.Log, agent, i.here(), settings.LayerUser, l.Path))
			files = append(files, l.Path)
		}
		found, err := i.Log.Installation()
		i.must(err)
		if len(found.Hooks) == 0 {
			t.Errorf("%s: no hooks were recorded", agent.Name)
		}
		i.must(i.Look(t.Context()))
		missed := func(text string) bool { return !strings.HasPrefix(text, "the program ") }
		if slices.ContainsFunc(told, missed) {
			t.Errorf("%s: told %q of a whole installation", agent.Name, told)
		}
		for _, path := range files {
			i.must(os.Remove(path))
		}
		i.must(i.Look(t.Context()))
		if !slices.ContainsFunc(told, missed) {
			t.Errorf("%s: nobody was told that the hooks are gone", agent.Name)
		}
	}
}

// TestInterval: Run looks when the time is over, and asks for it each time.
func TestInterval(t *testing.T) {
	i := install(t, settings.LayerUser)
	i.must(os.Remove(i.file))
	ctx, stop := context.WithCancel(t.Context())
	times := 0
	i.Run(ctx, func() time.Duration {
		if times++; times == 3 {
			stop()
			return time.Hour
		}
		return 0
	}, func(err error) { t.Error(err) })
	if len(i.told) != 1 || times < 2 {
		t.Errorf("told %q after %d times", i.told, times)
	}
}
