package history

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-reviewer/reviewer/engine"
)

func TestCheckFailed(t *testing.T) {
	check := reads("./a")
	check.Check = true
	passes := func(s *tale) *tale { return s.ran(check, "x") }
	fails := func(s *tale) *tale { return s.failedBy(check, engine.TroubleSyntax) }
	for name, test := range map[string]struct {
		tale *tale
		want bool
	}{
		"nothing":              {newTale(), false},
		"passed":               {passes(newTale()), false},
		"failed":               {fails(newTale()), true},
		"failed, then edited":  {fails(newTale()).ran(edits("./b"), "y"), true},
		"failed, then passed":  {passes(fails(newTale())), false},
		"passed, then failed":  {fails(passes(newTale())), true},
		"another call failed":  {newTale().failedBy(edits("./b"), engine.TroubleSyntax), false},
		"failed, then denied":  {fails(newTale()).answered(check, engine.Block), true},
		"failed, then running": {fails(newTale()).asked(check), true},
		"another agent's":      {fails(newTale().by("sub")).by(""), false},
	} {
		if got := test.tale.next(reads("./c")).History.CheckFailed; got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

func TestDenied(t *testing.T) {
	deep := "./" + strings.Repeat("very/", 8) + "deep" // 46 bytes: a file below is cut short
	file := deep + "/and/deeper/than/a/key/is/long.txt"
	none, same, effect := neverDenied(), neverDenied(), neverDenied()
	same.Same, effect.Effect = 1, 1
	both, earlier, later, latest := same, none, none, none
	both.Effect = 2
	earlier.Same, later.Same, latest.Effect = 10, 11, 11
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want engine.DenialFacts
	}{
		"nothing was denied":              {newTale().done(deletes("./a")), deletes("./a"), none},
		"the same call":                   {denied(deletes("./a")), deletes("./a"), same},
		"another tool, the same path":     {denied(deletes("./a")), python(engine.EffectFileDelete, "./a"), effect},
		"another path":                    {denied(deletes("./a")), python(engine.EffectFileDelete, "./b"), none},
		"a read of it":                    {denied(deletes("./a")), reads("./a"), none},
		"it is emptied instead":           {denied(deletes("./a")), edits("./a"), effect},
		"a write, then a deletion":        {denied(edits("./a")), deletes("./a"), effect},
		"a read, by another tool":         {denied(reads("./.env")), python(engine.EffectFileRead, "./.env"), effect},
		"a read, after it is moved":       {denied(reads("./.env")), python(engine.EffectFileDelete, "./.env", do("move")), effect},
		"one of many effects":             {denied(with(deletes("./a"), deletes("./b"))), python(engine.EffectFileDelete, "./b"), effect},
		"one effect of many":              {denied(deletes("./a")), with(reads("./x"), python(engine.EffectFileDelete, "./a")), effect},
		"the folder that holds it":        {denied(deletes("./d/a")), python(engine.EffectFileDelete, "./d", recursive), effect},
		"everything":                      {denied(deletes("./d/a")), python(engine.EffectFileDelete, ".", recursive), effect},
		"the root":                        {denied(deletes("/etc/a")), python(engine.EffectFileDelete, "/", recursive), effect},
		"the folder, if empty":            {denied(deletes("./d/a")), python(engine.EffectFileDelete, "./d"), none},
		"a folder of a like name":         {denied(deletes("./data/a")), python(engine.EffectFileDelete, "./dat", recursive), none},
		"part of it":                      {denied(deletes("./d", recursive)), python(engine.EffectFileDelete, "./d/a"), none},
		"a pattern that fits":             {denied(deletes("./a.db")), python(engine.EffectFileDelete, "./*.db", glob), effect},
		"a pattern that does not":         {denied(deletes("./a.db")), python(engine.EffectFileDelete, "./*.tmp", glob), none},
		"everything in it":                {denied(deletes("./d", recursive)), python(engine.EffectFileDelete, "./d/*", glob), effect},
		"part of its contents":            {denied(deletes("./d", recursive)), python(engine.EffectFileDelete, "./d/*.tmp", glob), none},
		"it is put into the trash":        {denied(deletes("./a")), python(engine.EffectFileDelete, "./a", do("trash")), none},
		"all in the folder":               {denied(deletes("./d/e/a")), python(engine.EffectFileDelete, "./d/*", glob, recursive), effect},
		"a search through the folder":     {denied(reads("./d/.env")), python(engine.EffectFileRead, "./d", recursive), none},
		"under a long path":               {denied(deletes(file)), python(engine.EffectFileDelete, deep, recursive), effect},
		"under a longer path":             {denied(deletes(file)), python(engine.EffectFileDelete, deep+"/and/deeper", recursive), effect},
		"next to a long path":             {denied(deletes(file)), python(engine.EffectFileDelete, deep+"er", recursive), none},
		"a long path":                     {denied(deletes(file)), python(engine.EffectFileDelete, file), effect},
		"with a newline in it":            {denied(deletes("./a\nb")), python(engine.EffectFileDelete, "./a\nb"), effect},
		"below one with a newline in it":  {denied(deletes("./a\nb/\xff/c")), python(engine.EffectFileDelete, "./a\nb", recursive), effect},
		"the same path elsewhere":         {denied(deletes("/a")), python(engine.EffectFileDelete, "/a", func(e *engine.Effect) { e.Host = "ssh:db" }), none},
		"a path that is not known":        {denied(deletes("")), python(engine.EffectFileDelete, ""), none},
		"a service, another command":      {denied(system("1", "stop", "nginx")), system("2", "stop", "nginx"), effect},
		"a service, started":              {denied(system("1", "stop", "nginx")), system("2", "start", "nginx"), none},
		"another service":                 {denied(system("1", "stop", "nginx")), system("2", "stop", "cron"), none},
		"the whole machine":               {denied(system("1", "reboot", "")), system("2", "reboot", ""), effect},
		"a host, by another program":      {denied(uploads("1", "https://example.com/a?b")), uploads("2", "example.com"), effect},
		"a host, another address":         {denied(uploads("1", "https://example.com/a")), uploads("2", "http://me:x@EXAMPLE.com:8080/b"), effect},
		"a push, denied by force":         {denied(forced(uploads("1", "origin"))), uploads("2", "origin"), none},
		"a push, by force again":          {denied(forced(uploads("1", "origin"))), forced(uploads("2", "origin")), effect},
		"a push by force, denied without": {denied(uploads("1", "origin")), forced(uploads("2", "origin")), effect},
		"another host":                    {denied(uploads("1", "https://example.com/a")), uploads("2", "https://example.org/a"), none},
		"a page of that host":             {denied(uploads("1", "https://example.com/a")), request("2", "https://example.com/a"), none},
		"a page, by another program":      {denied(request("1", "https://example.com/a")), request("2", "https://example.com/a"), effect},
		"another page":                    {denied(request("1", "https://example.com/a")), request("2", "https://example.com/b"), none},
		"ten actions ago":                 {times(denied(deletes("./a")), 9), deletes("./a"), earlier},
		"eleven actions ago":              {times(denied(deletes("./a")), 10), deletes("./a"), later},
		"denied again":                    {times(denied(deletes("./a")), 5).answered(deletes("./a"), engine.Block), deletes("./a"), same},
		"the same and another":            {denied(python(engine.EffectFileDelete, "./a"), deletes("./a")), deletes("./a"), both},
		"a sub-agent tries":               {denied(deletes("./a")).by("sub"), python(engine.EffectFileDelete, "./a"), effect},
		"a sub-agent tries later":         {times(denied(deletes("./a")).by("sub"), 10), python(engine.EffectFileDelete, "./a"), latest},
		"others act in between":           {times(denied(deletes("./a")).by("sub"), 40).by(""), deletes("./a"), same},
		"without a fingerprint":           {denied(engine.Action{Types: []engine.Type{engine.TypeUnknown}}), engine.Action{Types: []engine.Type{engine.TypeUnknown}}, none},
	} {
		if d := cmp.Diff(test.want, test.tale.next(test.next).History.Denials); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
	}
}

// The harm is what the rule that denied a call named: of a call that was denied by
// its scores, or since nobody could be asked, none is known.
func TestDeniedHarms(t *testing.T) {
	block := func(harm string) engine.RuleResult {
		return engine.RuleResult{ID: "r", Decision: engine.Block, Harm: harm}
	}
	limit := block(engine.HarmClosed)
	limit.Limit = true
	watched := block(engine.HarmLoss)
	watched.Enforcement = "observe"
	for name, test := range map[string]struct {
		rules []engine.RuleResult
		want  map[string]int64
	}{
		"by its scores":                {nil, map[string]int64{}},
		"a question nobody answers":    {[]engine.RuleResult{{ID: "r", Decision: engine.Ask}}, map[string]int64{}},
		"a rule that is not enforced":  {[]engine.RuleResult{watched}, map[string]int64{}},
		"a rule that names one":        {[]engine.RuleResult{block(engine.HarmLoss)}, map[string]int64{engine.HarmLoss: 1}},
		"a rule that names none":       {[]engine.RuleResult{block("")}, map[string]int64{engine.HarmPolicy: 1}},
		"the first that is enforced":   {[]engine.RuleResult{watched, block(engine.HarmExposure), block(engine.HarmLoss)}, map[string]int64{engine.HarmExposure: 1}},
		"a question with a harm":       {[]engine.RuleResult{{ID: "r", Decision: engine.Ask, Harm: engine.HarmLoss}}, map[string]int64{}},
		"a limit":                      {[]engine.RuleResult{limit}, map[string]int64{engine.HarmLimit: 1}},
		"a limit and a harm":           {[]engine.RuleResult{limit, block(engine.HarmHold)}, map[string]int64{engine.HarmHold: 1}},
		"closed, and no limit":         {[]engine.RuleResult{block(engine.HarmClosed)}, map[string]int64{engine.HarmClosed: 1}},
		"of no call in particular":     {[]engine.RuleResult{block(engine.HarmNone)}, map[string]int64{engine.HarmNone: 1}},
		"a limit, formerly":            {[]engine.RuleResult{block("limit")}, map[string]int64{"limit": 1}},
		"a limit and a harm, formerly": {[]engine.RuleResult{block("limit"), block("place")}, map[string]int64{"place": 1}},
		"a secret, formerly":           {[]engine.RuleResult{block("secret"), block("loss")}, map[string]int64{"secret": 1}},
		"another way, formerly":        {[]engine.RuleResult{block("repeat")}, map[string]int64{"repeat": 1}},
	} {
		got := newTale().blocked(deletes("./a"), test.rules...).next(python(engine.EffectFileDelete, "./a")).History.Denials
		if d := cmp.Diff(test.want, got.Harms); d != "" || got.Effect != 1 {
			t.Errorf("%s: %+v (-want +got)\n%s", name, got, d)
		}
	}
	asked := engine.RuleResult{ID: "r", Decision: engine.Ask, Harm: engine.HarmLoss}
	by := newTale().blocked(deletes("./a"), limit).blocked(deletes("./a")).blocked(reads("./a"), block("limit")).blocked(reads("./a"), block("code")).
		blocked(reads("./a"), block(engine.HarmForeignCode)).blocked(reads("./a"), asked)
	if d := cmp.Diff(map[string]int64{engine.HarmLimit: 2, "code": 1, engine.HarmForeignCode: 1}, by.next(reads("./a")).Session.DeniedBy); d != "" {
		t.Errorf("by harm (-want +got)\n%s", d)
	}
	twice := times(newTale().blocked(deletes("./a"), block(engine.HarmLoss)), 3).blocked(deletes("./a"), block(engine.HarmMachine))
	if d := cmp.Diff(map[string]int64{engine.HarmLoss: 5, engine.HarmMachine: 1}, twice.next(python(engine.EffectFileDelete, "./a")).History.Denials.Harms); d != "" {
		t.Errorf("the nearest of each (-want +got)\n%s", d)
	}
}

func glob(e *engine.Effect) { e.Certainty = engine.CertaintyGlob }

func do(verb string) func(*engine.Effect) { return func(e *engine.Effect) { e.Verb = verb } }

func system(print, verb, target string) engine.Action {
	return command(print, engine.EffectSystemCall, "", do(verb), func(e *engine.Effect) { e.Target, e.Location = target, "" })
}

func uploads(print, url string) engine.Action {
	a := request(print, url)
	a.Effects[0].Egress = true
	return a
}

func forced(a engine.Action) engine.Action {
	a.Effects[0].Forced = true
	return a
}

func python(kind engine.EffectKind, path string, change ...func(*engine.Effect)) engine.Action {
	return command("python "+string(kind)+path, kind, path, change...)
}

func denied(list ...engine.Action) *tale {
	s := newTale()
	for _, a := range list {
		s.answered(a, engine.Block)
	}
	return s
}

// A person's no counts as a denial, however it is known; a yes takes it back.
func TestRefused(t *testing.T) {
	a := deletes("./a")
	python := command("python", engine.EffectFileDelete, "./a")
	asked := func() *tale { return newTale().answered(a, engine.Ask) }
	post := func(s *tale, o engine.Outcome) *tale {
		s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: "c2", Action: &a, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: o}}})
		return s
	}
	send := request("1", "https://example.com/a")
	send.Effects[0].Egress = true
	other := request("2", "https://example.com/b")
	other.Effects[0].Egress = true
	for name, test := range map[string]struct {
		tale *tale
		next engine.Action
		want bool
	}{
		"asked":                 {asked(), python, false},
		"no result by the stop": {asked().end(engine.KindStop), python, true},
		"…by the next prompt":   {asked().says(engine.Goal{}), python, true},
		"another's stop":        {asked().by("sub").end(engine.KindStop).by(""), python, false},
		"it ran":                {post(asked(), engine.OutcomeRan), python, false},
		"it ran after all":      {post(asked().end(engine.KindStop), engine.OutcomeRan), python, false},
		"reported as refused":   {post(asked(), engine.OutcomeDenied), python, true},
		"refused elsewhere":     {post(newTale().asked(a), engine.OutcomeDenied), python, true},
		"allowed, no result":    {newTale().asked(a).end(engine.KindStop), python, false},
		"a host":                {newTale().answered(send, engine.Ask).end(engine.KindStop), other, true},
	} {
		if got := test.tale.next(test.next).History.Denials; (got.Refused < engine.NeverHappened) != test.want {
			t.Errorf("%s: %+v, want %v", name, got, test.want)
		}
	}
}

// What was denied of a thing is forgotten where a person orders work on it by
// name, and only then.
func TestDeniedAndOrdered(t *testing.T) {
	python := command("python", engine.EffectFileDelete, "./data/a")
	for name, test := range map[string]struct {
		goal engine.Goal
		want bool
	}{
		"nothing is said":           {engine.Goal{}, true},
		"work, and no name":         {engine.Goal{Intents: []engine.Intent{engine.IntentClean}}, true},
		"a name, and no work":       {engine.Goal{Intents: []engine.Intent{engine.IntentRead}, Names: []string{"data"}}, true},
		"the name":                  {engine.Goal{Intents: []engine.Intent{engine.IntentClean}, Names: []string{"data"}}, false},
		"the path":                  {engine.Goal{Intents: []engine.Intent{engine.IntentClean}, Names: []string{"./data/a"}}, false},
		"another name":              {engine.Goal{Intents: []engine.Intent{engine.IntentClean}, Names: []string{"dat"}}, true},
		"it is to be left alone":    {engine.Goal{Intents: []engine.Intent{engine.IntentClean}, Names: []string{"data"}, Constraints: []engine.Constraint{{Kind: engine.ConstraintLeave, What: "data"}}}, true},
		"another is":                {engine.Goal{Intents: []engine.Intent{engine.IntentClean}, Names: []string{"data"}, Constraints: []engine.Constraint{{Kind: engine.ConstraintLeave, What: "lib"}}}, false},
		"nothing is to be changed":  {engine.Goal{Intents: []engine.Intent{engine.IntentClean}, Names: []string{"data"}, Constraints: []engine.Constraint{{Kind: engine.ConstraintFreeze}}}, true},
		"what was forbidden is not": {engine.Goal{Intents: []engine.Intent{engine.IntentClean}, Names: []string{"data"}, Constraints: []engine.Constraint{{Kind: engine.ConstraintLift}}}, false},
	} {
		if got := newTale().answered(deletes("./data/a"), engine.Block).says(test.goal).next(python).History.Denials; (got.Effect < engine.NeverHappened) != test.want {
			t.Errorf("%s: %+v, want %v", name, got, test.want)
		}
	}
}

// A denied call that ran was allowed by someone: nothing is left to work around,
// and what it did counts. A failure may be the denial itself.
func TestDeniedAndRan(t *testing.T) {
	ends := func(a engine.Action, o engine.Outcome) *tale {
		s := newTale().answered(a, engine.Block)
		s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: "c2", Action: &a, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: o}}})
		return s
	}
	python := command("python", engine.EffectFileDelete, "./a")
	for o, want := range map[engine.Outcome]bool{engine.OutcomeRan: false, engine.OutcomeFailed: true, engine.OutcomeDenied: true, engine.OutcomeUnknown: true, "odd": true} {
		if got := ends(deletes("./a"), o).next(python); (got.History.Denials.Effect < engine.NeverHappened) != want || got.Session.Denials != 1 {
			t.Errorf("%s: %+v after %d denials, want %v", o, got.History.Denials, got.Session.Denials, want)
		}
		ops := int64(1)
		if !want {
			ops = 2
		}
		if got := ends(deletes("./a"), o).next(python).Session.FileOps; got != ops {
			t.Errorf("%s: %d operations, want %d", o, got, ops)
		}
	}
	ledger := func(s *tale) string { return s.next(deletes("./a")).Action.Effects[0].Ledger }
	if got := ledger(ends(edits("./a", created), engine.OutcomeRan)); got != engine.LedgerCreated {
		t.Errorf("what it made is %q", got)
	}
	if got := ledger(ends(edits("./a", created), engine.OutcomeFailed)); got != "" {
		t.Errorf("what it did not make is %q", got)
	}
	secret := on("./.env", engine.EffectFileRead, func(e *engine.Effect) { e.Class = engine.ClassEnvFile })
	if !ends(secret, engine.OutcomeRan).next(python).Session.SecretsRead {
		t.Error("a secret that was read anyway is not known")
	}
	other := ends(deletes("./a"), engine.OutcomeRan).answered(deletes("./b"), engine.Block)
	if got := other.next(command("python b", engine.EffectFileDelete, "./b")).History.Denials; got.Effect == engine.NeverHappened {
		t.Errorf("another call's denial is forgotten: %+v", got)
	}
	goTest, tests := checks("go test"), edits("./a_test.go", func(e *engine.Effect) { e.Class = engine.ClassTest })
	s := newTale().failed(goTest, "e").answered(tests, engine.Block)
	s.add(&engine.Record{Kind: engine.KindPost, Phase: engine.PhasePost, Call: "c4", Action: &tests, Event: &engine.EventFacts{Result: &engine.ResultFacts{Outcome: engine.OutcomeRan}}})
	if got := s.next(goTest).History.Rechecks.Edited; got != 1 {
		t.Errorf("a denied edit of tests that ran counts %d times, want 1", got)
	}
}

// What a program does with its words is unknown, and that of many services is
// not named: another way to it is the same words, however they are started.
func TestDeniedWords(t *testing.T) {
	program := func(target string, c engine.Command, effects ...engine.Effect) engine.Action {
		a := engine.Action{Fingerprint: engine.HexSum([]byte(target + fmt.Sprint(c)))[:16], Commands: []engine.Command{{Name: "cd"}, c}}
		a.Effects = append([]engine.Effect{{Kind: engine.EffectProcess, Verb: "exec", Target: target, Command: 1}}, effects...)
		return a
	}
	maker := func(flags []string, words ...string) engine.Action {
		return program("make", engine.Command{Name: "make", Flags: flags, Operands: words})
	}
	makes := func(words ...string) engine.Action { return maker(nil, words...) }
	service := func(verb, target, object string, words ...string) engine.Action {
		a := program(words[0], engine.Command{Name: words[0], Operands: words[1:]})
		a.Effects = []engine.Effect{{Kind: engine.EffectNetwork, Verb: verb, Target: target, Object: object, Egress: verb != "fetch", Command: 1}}
		return a
	}
	script := program("python", engine.Command{Name: "python", Operands: []string{"app.py"}},
		engine.Effect{Kind: engine.EffectFileRead, Short: "./app.py", Command: 1}, engine.Effect{Kind: engine.EffectFileRead, Short: "./.env", Class: engine.ClassEnvFile, Command: 1})
	sql := func(verb string) engine.Action {
		a := program("psql", engine.Command{Name: "psql", Operands: []string{"shop"}, Flags: []string{"-c=" + verb}})
		if verb == "drop" {
			a.Effects = append(a.Effects, engine.Effect{Kind: engine.EffectSystemCall, Verb: verb, Target: "postgres:///shop", Command: 1})
		}
		return a
	}
	for name, test := range map[string]struct {
		denied, next engine.Action
		want         bool
	}{
		"another target":             {makes("deploy"), makes("test"), false},
		"one more target":            {makes("deploy"), makes("deploy", "test"), false},
		"no target":                  {makes("deploy"), makes(), false},
		"by its path":                {makes("deploy"), program("/usr/bin/make", engine.Command{Name: "make", Operands: []string{"deploy"}}), true},
		"its output goes elsewhere":  {program("make", engine.Command{Name: "make", Operands: []string{"deploy"}}, engine.Effect{Kind: engine.EffectFileWrite, Short: "./log", Command: 1}), makes("deploy"), true},
		"in another shell":           {makes("deploy"), program("make", engine.Command{Name: "make", Operands: []string{"deploy"}, Via: []string{"sh-c"}}), true},
		"a dry run":                  {makes("deploy"), maker([]string{"-n"}, "deploy"), false},
		"flags in another order":     {maker([]string{"-B", "-s"}, "a"), maker([]string{"-s", "-B"}, "a"), true},
		"a script, by another path":  {program("./run.sh", engine.Command{Name: "run.sh"}), program("/w/run.sh", engine.Command{Name: "run.sh"}), true},
		"a script of another folder": {program("./a/run.sh", engine.Command{Name: "run.sh"}), program("./b/run.sh", engine.Command{Name: "run.sh"}), false},
		"what it runs is read":       {script, reads("./app.py"), false},
		"a secret that it reads":     {script, reads("./.env"), true},
		"a table, then a question":   {sql("drop"), sql("select"), false},
		"the table once more":        {sql("drop"), command("x", engine.EffectSystemCall, "", func(e *engine.Effect) { e.Verb, e.Target, e.Location = "drop", "postgres:///shop", "" }), true},
		"another package":            {service("fetch", "npm", "", "npm", "install", "a"), service("fetch", "npm", "", "npm", "install", "b"), false},
		"the package":                {service("fetch", "npm", "", "npm", "install", "a"), service("fetch", "npm", "", "npm", "install", "a"), true},
		"a word about it":            {service("send", "github", "", "gh", "pr", "merge", "7"), service("send", "github", "", "gh", "pr", "comment", "7"), false},
		"another branch":             {service("send", "origin", "", "git", "push", "origin", "main"), service("send", "origin", "", "git", "push", "origin", "topic"), false},
		"an object, another command": {service("delete", "aws", "object", "aws", "s3", "rm", "s3://x"), service("delete", "aws", "object", "aws", "s3api", "delete-objects"), true},
		"another kind of object":     {service("delete", "kubernetes", "namespace", "kubectl", "delete", "ns", "a"), service("delete", "kubernetes", "pod", "kubectl", "delete", "pod", "a"), false},
		"applied, then destroyed":    {service("send", "terraform", "stack", "terraform", "apply"), service("delete", "terraform", "stack", "terraform", "destroy"), true},
		"destroyed, then applied":    {service("delete", "terraform", "stack", "terraform", "destroy"), service("send", "terraform", "stack", "terraform", "apply"), false},
		"an address":                 {service("send", "https://h.example/a", "", "curl", "a"), service("send", "https://h.example/b", "", "wget", "b"), true},
		"a name, not a command":      {service("send", "https://h.example/a", "", "curl", "a"), request("2", "https://h.example/a"), false},
	} {
		next := test.next
		next.Fingerprint = "next"
		if got := newTale().answered(test.denied, engine.Block).next(next).History.Denials.Effect < engine.NeverHappened; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	odd := makes("deploy")
	odd.Effects[0].Command = 7
	if got := newTale().answered(odd, engine.Block).next(odd).History.Denials; got.Same == engine.NeverHappened {
		t.Errorf("of a command that is not there: %+v", got)
	}
	again := makes("deploy")
	again.Fingerprint = "next"
	for name, want := range map[string]bool{"deploy": false, "make deploy": false, "make": false, "dep": true, "test": true} {
		s := newTale().answered(makes("deploy"), engine.Block).says(engine.Goal{Intents: []engine.Intent{engine.IntentFix}, Names: []string{name}})
		if got := s.next(again).History.Denials.Effect < engine.NeverHappened; got != want {
			t.Errorf("a person ordered %s: %v, want %v", name, got, want)
		}
	}
}

func TestDeniedWithoutFacts(t *testing.T) {
	s := newTale()
	s.add(&engine.Record{Kind: engine.KindPre, Phase: engine.PhasePre, Answer: &engine.AnswerFacts{Effect: engine.Block}})
	if got := s.next(deletes("./a")); got.History.Denials.Same < engine.NeverHappened || got.Session.Denials != 1 {
		t.Errorf("%+v", got.History.Denials)
	}
}

// What is denied early in a call of many effects is not pushed out by the rest.
func TestDenialsAreBounded(t *testing.T) {
	s := newTale()
	for i := range 9 {
		a := deletes(fmt.Sprint("./first", i))
		for j := range 50 {
			a = with(a, deletes(fmt.Sprint("./more", i, j)))
		}
		s.answered(a, engine.Block)
	}
	if len(s.h.Denials) > maxDenials {
		t.Fatalf("%d denials are kept", len(s.h.Denials))
	}
	for i := range 9 {
		got := s.next(command("python", engine.EffectFileDelete, fmt.Sprint("./first", i))).History.Denials
		if want := i > 0; (got.Effect < engine.NeverHappened) != want {
			t.Errorf("number %d: %+v, want %v", i, got, want)
		}
	}
}

func checks(print string, files ...string) engine.Action {
	a := engine.Action{Types: []engine.Type{engine.TypeSystemCommand}, Fingerprint: engine.HexSum([]byte(print))[:16], Check: true, Commands: []engine.Command{{Name: print}}}
	for _, f := range files {
		a.Effects = append(a.Effects, engine.Effect{Kind: engine.EffectFileRead, Short: f, Certainty: engine.CertaintyExact, Exists: "yes", Entry: "file", Location: engine.LocationInside})
	}
	return a
}

func TestCheckEditCheck(t *testing.T) {
	test := func(e *engine.Effect) { e.Class = engine.ClassTest }
	ci := func(e *engine.Effect) { e.Class = engine.ClassCI }
	data := func(e *engine.Effect) { e.Location = engine.LocationSystem }
	piped := checks("go test | tail")
	piped.Commands = []engine.Command{{Name: "cd"}, {Name: "go"}, {Name: "tail"}}
	inFolder := checks("cd; go test")
	inFolder.Commands = []engine.Command{{Name: "cd"}, {Name: "go"}}
	type step func(*tale)
	run := func(a engine.Action) step { return func(s *tale) { s.done(a) } }
	fail := func(a engine.Action) step { return func(s *tale) { s.failed(a, "FAIL") } }
	deny := func(a engine.Action) step { return func(s *tale) { s.answered(a, engine.Block) } }
	ask := func(a engine.Action) step { return func(s *tale) { s.asked(a) } }
	goTest, source, tests := checks("go test"), edits("./cart.go"), edits("./cart_test.go", test)
	validate := checks("python validate.py", "./in.csv")
	for name, tc := range map[string]struct {
		did  []step
		next engine.Action
		want int64
	}{
		"the first run":                    {nil, goTest, 0},
		"again":                            {[]step{fail(goTest)}, goTest, 0},
		"after work":                       {[]step{fail(goTest), run(source)}, goTest, 0},
		"after an edit of tests":           {[]step{fail(goTest), run(tests)}, goTest, 1},
		"after their deletion":             {[]step{fail(goTest), run(deletes("./cart_test.go", test))}, goTest, 1},
		"after an edit of the workflow":    {[]step{fail(goTest), run(edits("./ci.yml", ci))}, goTest, 1},
		"after an edit of both":            {[]step{fail(goTest), run(tests), run(source)}, goTest, 0},
		"after a denied edit":              {[]step{fail(goTest), deny(tests)}, goTest, 0},
		"after an edit without result":     {[]step{fail(goTest), ask(tests)}, goTest, 1},
		"another check":                    {[]step{fail(goTest), run(tests)}, checks("go vet"), 0},
		"no check":                         {[]step{fail(goTest), run(tests)}, source, 0},
		"twice":                            {[]step{fail(goTest), run(tests), fail(goTest), run(tests)}, goTest, 2},
		"twice, with honest work between":  {[]step{fail(goTest), run(tests), fail(goTest), run(source), fail(goTest), run(tests)}, goTest, 2},
		"once, then honest work":           {[]step{fail(goTest), run(tests), fail(goTest), run(source)}, goTest, 1},
		"the check did not run":            {[]step{fail(goTest), run(tests), deny(goTest)}, goTest, 1},
		"nothing is known about the check": {[]step{ask(goTest), run(tests)}, goTest, 1},
		"inputs of the check":              {[]step{run(validate), run(edits("./in.csv", data))}, validate, 1},
		"other data":                       {[]step{run(validate), run(edits("./other.csv", data))}, validate, 0},
		"its own product":                  {[]step{run(edits("./in.csv", created)), fail(validate), run(edits("./in.csv"))}, validate, 0},
		"a product that may not be":        {[]step{ask(edits("./in.csv", created)), fail(validate), run(edits("./in.csv"))}, validate, 1},
		"tests of its own":                 {[]step{run(edits("./cart_test.go", created, test)), fail(goTest), run(tests)}, goTest, 0},
		"a test while all pass":            {[]step{run(goTest), run(tests)}, goTest, 0},
		"…in a folder":                     {[]step{run(inFolder), run(tests)}, inFolder, 0},
		"…as far as a pipe shows":          {[]step{run(piped), run(tests)}, piped, 1},
		"test-driven": {[]step{
			run(goTest), run(tests), fail(goTest), run(source),
			run(goTest), run(tests), fail(goTest), run(source),
			run(goTest), run(tests), fail(goTest), run(source)}, goTest, 0},
		"a long refactoring": {[]step{
			run(goTest), run(source), run(edits("./b.go")), fail(goTest), run(source), run(tests), fail(goTest), run(edits("./c.go")), run(tests)}, goTest, 0},
	} {
		s := newTale()
		for _, do := range tc.did {
			do(s)
		}
		if got := s.next(tc.next).History.Rechecks; got.Edited != tc.want {
			t.Errorf("%s: %+v, want %d", name, got, tc.want)
		}
		s.by("sub")
		if got := s.next(tc.next).History.Rechecks; got != (engine.CheckFacts{}) {
			t.Errorf("%s: another agent has %+v", name, got)
		}
	}
}

// What bends a check is counted by its kind, so that policy can say which counts.
func TestKindsOfEdits(t *testing.T) {
	test := func(e *engine.Effect) { e.Class = engine.ClassTest }
	goTest, tests, source := checks("go test"), edits("./a_test.go", test), edits("./a.go")
	made := edits("./a_test.go", created, test)
	for name, tc := range map[string]struct {
		tale *tale
		want engine.CheckFacts
	}{
		"while it failed":          {newTale().failed(goTest, "e").done(tests), engine.CheckFacts{Edited: 1}},
		"while it passed":          {newTale().done(goTest, tests), engine.CheckFacts{Passing: 1}},
		"its own":                  {newTale().done(made).failed(goTest, "e").done(tests), engine.CheckFacts{Own: 1}},
		"its own, while it passed": {newTale().done(made, goTest, tests), engine.CheckFacts{Own: 1}},
		"one of each":              {newTale().done(made, goTest, tests, edits("./b_test.go", test)), engine.CheckFacts{Passing: 1, Own: 1}},
		"and work":                 {newTale().done(goTest, tests, source), engine.CheckFacts{}},
		"twice":                    {newTale().done(goTest, tests, goTest, tests), engine.CheckFacts{Passing: 2}},
	} {
		if got := tc.tale.next(goTest).History.Rechecks; got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// A check of which something is known is not pushed out by others.
func TestChecksAreBounded(t *testing.T) {
	goTest, tests := checks("go test"), edits("./a_test.go", func(e *engine.Effect) { e.Class = engine.ClassTest })
	s := newTale().failed(goTest, "e").done(tests, goTest)
	for i := range 3 * maxChecks {
		s.done(checks(fmt.Sprint("other", i)))
	}
	if got := s.next(goTest).History.Rechecks.Edited; got != 1 {
		t.Errorf("after many other checks, the count is %d, want 1", got)
	}
	for i := range maxAgents {
		s.by(fmt.Sprint("agent", i))
		for j := range maxChecks {
			s.done(checks(fmt.Sprint("other", j)))
		}
	}
	total := 0
	for _, a := range s.h.Agents {
		total += len(a.Checks)
	}
	if total != totalChecks {
		t.Errorf("%d checks are kept, want %d", total, totalChecks)
	}
	if got := s.by("").next(goTest).History.Rechecks.Edited; got != 1 {
		t.Errorf("after many other agents' checks, the count is %d, want 1", got)
	}
}
