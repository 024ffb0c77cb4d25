package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/google/go-cmp/cmp"
)

// returned is a call that ran, with marks of what it returned.
func (s *tale) returned(a engine.Action, texts ...string) *tale {
	return s.ended(a, &engine.ResultFacts{Outcome: engine.OutcomeRan, Marks: marks(texts...)})
}

// holding gives an action texts that could come from elsewhere.
func holding(a engine.Action, texts ...string) engine.Action {
	a.Marks = marks(texts...)
	return a
}

func env(e *engine.Effect) { e.Class = engine.ClassEnvFile }

func egress(e *engine.Effect) { e.Egress = true }

func recursive(e *engine.Effect) {
	e.Recursive = true
}

func with(a engine.Action, more ...engine.Action) engine.Action {
	for _, o := range more {
		a.Effects = append(a.Effects, o.Effects...)
		a.Types = append(a.Types, o.Types...)
	}
	return a
}

func TestCarries(t *testing.T) {
	readEnv := command("cat .env", engine.EffectFileRead, "./.env", env)
	fetch := request("get", "https://example.com/page")
	send := func(texts ...string) engine.Action { return holding(request("post", "https://example.org"), texts...) }
	mcp := engine.Action{Types: []engine.Type{engine.TypeMCPCall}, Fingerprint: "1"}
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want []engine.Label
	}{
		"nothing was read":        {newTale(), send("hunter2"), nil},
		"what an env file holds":  {newTale().returned(readEnv, "hunter2"), send("hunter2"), []engine.Label{engine.LabelSecret}},
		"something else":          {newTale().returned(readEnv, "hunter2"), send("hello"), nil},
		"what a page says":        {newTale().returned(fetch, "curl evil"), send("curl evil"), []engine.Label{engine.LabelUntrusted}},
		"what a service says":     {newTale().returned(mcp, "curl evil"), send("curl evil"), []engine.Label{engine.LabelUntrusted}},
		"both":                    {newTale().returned(fetch, "x").returned(readEnv, "y"), send("x", "y"), []engine.Label{engine.LabelSecret, engine.LabelUntrusted}},
		"what a person wrote too": {newTale().returned(fetch, "x").says(engine.Goal{Marks: marks("x")}), send("x"), nil},
		"a person's own secret":   {newTale().returned(readEnv, "x").says(engine.Goal{Marks: marks("x")}), send("x"), []engine.Label{engine.LabelSecret}},
		"of a plain file":         {newTale().returned(command("cat a", engine.EffectFileRead, "./a"), "x"), send("x"), nil},
		"of this machine":         {newTale().returned(command("get", engine.EffectNetwork, "", func(e *engine.Effect) { e.Loopback = true }), "x"), send("x"), nil},
		"of a call that failed":   {newTale().ended(fetch, &engine.ResultFacts{Outcome: engine.OutcomeFailed, Marks: marks("x")}), send("x"), []engine.Label{engine.LabelUntrusted}},
		"of one that was refused": {newTale().ended(fetch, &engine.ResultFacts{Outcome: engine.OutcomeDenied, Marks: marks("x")}), send("x"), nil},
	} {
		if d := cmp.Diff(test.want, test.tale.next(test.next).Action.Carries); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// An output that nobody was asked about is as untrusted as any other.
func TestUnreviewedOutput(t *testing.T) {
	fetch := request("get", "https://example.com")
	s := newTale()
	s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: "c", Action: &fetch, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeRan, Marks: marks("x")}}})
	in := s.next(holding(request("post", "https://example.org"), "x"))
	if d := cmp.Diff([]engine.Label{engine.LabelUntrusted}, in.Session.Labels); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]engine.Label{engine.LabelUntrusted}, in.Action.Carries); d != "" {
		t.Error(d)
	}
	if in.History.Since.Untrusted != 1 {
		t.Errorf("untrusted since %d, want 1", in.History.Since.Untrusted)
	}
}

func TestSessionLabels(t *testing.T) {
	readEnv := command("cat .env", engine.EffectFileRead, "./.env", env)
	for name, test := range map[string]struct {
		tale *tale
		want []engine.Label
	}{
		"none":                             {newTale().ran(command("cat a", engine.EffectFileRead, "./a"), ""), []engine.Label{}},
		"secret":                           {newTale().ran(readEnv, ""), []engine.Label{engine.LabelSecret}},
		"about which nothing was reported": {newTale().asked(readEnv).asked(request("get", "example.com")), []engine.Label{engine.LabelUntrusted, engine.LabelSecret}},
		"denied":                           {newTale().answered(readEnv, engine.Block).answered(request("get", "example.com"), engine.Block), []engine.Label{}},
		"a key that is moved":              {newTale().asked(command("mv key a", engine.EffectFileDelete, "./key", func(e *engine.Effect) { e.Verb, e.Class = "move", engine.ClassCredential })), []engine.Label{engine.LabelSecret}},
	} {
		got := test.tale.next(readEnv).Session
		if d := cmp.Diff(test.want, got.Labels); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if secret := strings.Contains(fmt.Sprint(test.want), string(engine.LabelSecret)); got.SecretsRead != secret {
			t.Errorf("%s: secrets_read is %v", name, got.SecretsRead)
		}
	}
}

func TestFilesCarryLabels(t *testing.T) {
	readEnv := command("cat .env", engine.EffectFileRead, "./.env", env)
	write := command("edit out", engine.EffectFileWrite, "./out")
	download := with(request("get", "https://example.com/a.sh"), command("", engine.EffectFileWrite, "./out", created))
	move := func(from, to string, change ...func(*engine.Effect)) engine.Action {
		change = append(change, func(e *engine.Effect) { e.Verb = "move" })
		return with(command("mv "+from, engine.EffectFileDelete, from, change...), command("", engine.EffectFileWrite, to, func(e *engine.Effect) { e.Verb = "move" }))
	}
	for name, test := range map[string]struct {
		tale              *tale
		path              string
		secret, untrusted bool
	}{
		"a plain write":               {newTale().ran(write, ""), "./out", false, false},
		"a secret written down":       {newTale().returned(readEnv, "x").asked(holding(write, "x")), "./out", true, false},
		"a copy":                      {newTale().asked(with(readEnv, write)), "./out", true, false},
		"a denied copy":               {newTale().answered(with(readEnv, write), engine.Block), "./out", false, false},
		"a file that was fetched":     {newTale().asked(download), "./out", false, true},
		"…and made":                   {newTale().ran(download, ""), "./out", false, true},
		"a copy of a copy":            {newTale().asked(with(readEnv, write)).asked(with(command("cat out", engine.EffectFileRead, "./out"), command("", engine.EffectFileWrite, "./b"))), "./b", true, false},
		"moved on":                    {newTale().asked(with(readEnv, write)).asked(move("./out", "./b")), "./b", true, false},
		"an env file that is moved":   {newTale().asked(move("./.env", "./b", env)), "./b", true, false},
		"an archive of the folder":    {newTale().asked(with(readEnv, write)).asked(with(command("tar", engine.EffectFileRead, ".", recursive), command("", engine.EffectFileWrite, "./b"))), "./b", true, false},
		"an archive of another":       {newTale().asked(with(readEnv, write)).asked(with(command("tar", engine.EffectFileRead, "./src", recursive), command("", engine.EffectFileWrite, "./b"))), "./b", false, false},
		"a pattern that fits":         {newTale().asked(with(readEnv, write)).asked(with(command("cat", engine.EffectFileRead, "./o*"), command("", engine.EffectFileWrite, "./b"))), "./b", true, false},
		"what was read from it later": {newTale().asked(download).returned(command("cat out", engine.EffectFileRead, "./out"), "evil").asked(holding(command("edit b", engine.EffectFileWrite, "./b"), "evil")), "./b", false, true},
		"deleted and made again":      {newTale().asked(with(readEnv, write)).ran(command("rm", engine.EffectFileDelete, "./out"), "").ran(write, ""), "./out", true, false},
		"elsewhere":                   {newTale().asked(with(readEnv, command("", engine.EffectFileWrite, "/out", func(e *engine.Effect) { e.Host = "ssh:a" }))), "/out", false, false},
	} {
		e := test.tale.next(command("cat it", engine.EffectFileRead, test.path)).Action.Effects[0]
		if e.Secret != test.secret || e.Untrusted != test.untrusted {
			t.Errorf("%s: secret %v, untrusted %v; want %v, %v", name, e.Secret, e.Untrusted, test.secret, test.untrusted)
		}
	}
}

// The latest marks are kept, and what is read again is latest.
func TestMarksAreBounded(t *testing.T) {
	readEnv := command("cat .env", engine.EffectFileRead, "./.env", env)
	s := newTale().returned(readEnv, "first", "again")
	for i := range maxMarks {
		s.returned(readEnv, fmt.Sprint("other", i), "again")
	}
	send := request("post", "https://example.org")
	if got := s.next(holding(send, "first")); got.Action.Carries != nil || !got.Session.SecretsRead {
		t.Errorf("after %d others, a mark is still there, or the session's label is not", maxMarks)
	}
	for _, text := range []string{"again", fmt.Sprint("other", maxMarks-1), fmt.Sprint("other", 2)} {
		if s.next(holding(send, text)).Action.Carries == nil {
			t.Errorf("%q is forgotten", text)
		}
	}
}

func TestNewHosts(t *testing.T) {
	to := func(hosts ...string) engine.Action {
		a := request("get "+strings.Join(hosts, " "), "https://"+hosts[0])
		a.Hosts = hosts
		return a
	}
	many := newTale()
	for i := range maxHosts + 1 {
		many.done(to(fmt.Sprint("h", i)))
	}
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want int64
	}{
		"none":               {newTale(), command("cat", engine.EffectFileRead, "./a"), 0},
		"the first":          {newTale(), to("a"), 1},
		"two":                {newTale().done(to("a")), to("a", "b", "c"), 2},
		"known":              {newTale().done(to("a", "b")), to("b"), 0},
		"no result":          {newTale().asked(to("a")), to("a"), 1},
		"failed":             {newTale().failed(to("a"), "e"), to("a"), 1},
		"denied before":      {newTale().answered(to("a"), engine.Block), to("a"), 1},
		"of another agent":   {newTale().by("sub").done(to("a")).by(""), to("a"), 0},
		"the latest of many": {many, to(fmt.Sprint("h", maxHosts), "h1"), 0},
		"the first of many":  {many, to("h0"), 1},
		"of endless length":  {newTale().done(to(strings.Repeat("a.", 500))), to(strings.Repeat("a.", 500)), 0},
	} {
		if got := test.tale.next(test.next).History.NewHosts; got != test.want {
			t.Errorf("%s: %d new hosts, want %d", name, got, test.want)
		}
	}
}

// by goes on as another agent.
func (s *tale) by(agent string) *tale {
	s.agent = agent
	return s
}
