package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/sweep"
	"github.com/spf13/cobra"
)

// cli runs a command in this process, and nothing of a secret may show.
func (w *watched) cli(stdin string, args ...string) (code int, stdout, stderr string) {
	w.t.Helper()
	var out, errs bytes.Buffer
	a := *w.app
	a.Stdin, a.Stdout, a.Stderr = strings.NewReader(stdin), &out, &errs
	code = run(w.t.Context(), &a, args)
	what := "reviewer " + strings.Join(args, " ")
	w.clean(what+": standard output", withoutInput(out.Bytes()))
	w.clean(what+": standard error", errs.Bytes())
	return code, out.String(), errs.String()
}

// leaves lists the commands that do something, as they are typed.
func leaves(cmd *cobra.Command) []string {
	var list []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && (!sub.HasSubCommands() || strings.Contains(sub.Use, " ")) { // else it takes no argument but a command
			list = append(list, strings.TrimPrefix(sub.CommandPath(), "reviewer "))
		}
		list = append(list, leaves(sub)...)
	}
	return list
}

// reports are the lines to type for each command, over a log full of secrets.
// ID is a session, RECORD a call; TRANSCRIPT and INPUTS are files of agents'
// words, TEXT a secret that a person types.
func reports() map[string][]string {
	return map[string][]string{
		"allow":                            {"allow RECORD --once --reason TEXT", "allow TEXT --once"},
		"approvals code":                   {"approvals code", "approvals code --remove"},
		"denials":                          {"denials", "denials ID", "denials TEXT"},
		"approvals list":                   {"approvals list", "approvals list -f json"},
		"approvals show":                   {"approvals show RECORD", "approvals show TEXT"},
		"approvals approve":                {"approvals approve TEXT --message TEXT", "approvals approve RECORD --digest TEXT"},
		"approvals deny":                   {"approvals deny TEXT --message TEXT", "approvals deny RECORD --stop -f json"},
		"approvals watch":                  {"approvals watch", "approvals watch TEXT"},
		"audit case":                       {"audit case RECORD", "audit case TEXT"},
		"audit export":                     {"audit export", "audit export -f jsonl", "audit export -f csv", "audit export -f json ID", "audit export --from TEXT"},
		"audit reconcile":                  {"audit reconcile TRANSCRIPT", "audit reconcile -f json TRANSCRIPT", "audit reconcile INPUTS"},
		"audit replay":                     {"audit replay", "audit replay -f json"},
		"audit seal":                       {"audit seal", "audit seal --to OUT"},
		"audit show":                       {"audit show", "audit show -f json", "audit show ID --all", "audit show ID --all -f json", "audit show TEXT"},
		"audit stats":                      {"audit stats", "audit stats -f json", "audit stats -f prometheus", "audit stats ID --by session", "audit stats TEXT"},
		"audit tail":                       {"audit tail", "audit tail ID --all -n 1000"},
		"audit verify":                     {"audit verify", "audit verify ID"},
		"audit why":                        {"audit why RECORD", "audit why RECORD -f json", "audit why TEXT"},
		"config check":                     {"config check", "config check -f json", "config check TEXT"},
		"config show":                      {"config show", "config show -f json", "config show TEXT"},
		"instructions":                     {"instructions", "instructions -f json", "instructions TEXT", "instructions --agent TEXT"},
		"agents":                           {"agents", "agents --json", "agents TEXT"},
		"doctor":                           {"doctor"},
		"help":                             {"help", "help TEXT"},
		"hook":                             {"hook TEXT", "hook claude-code PreToolUse TEXT", "hook claude-code --TEXT", "hook claude-code TEXT"},
		"install":                          {"install claude-code --enforcement observe", "install TEXT"},
		"policy activate":                  {"policy activate TEXT --reason TEXT", "policy activate INPUTS"},
		"policy accept":                    {"policy accept --dry-run", "policy accept --dry-run -f json", "policy accept TEXT"},
		"policy build":                     {"policy build TEXT -o OUT", "policy build INPUTS -o OUT", "policy build INPUTS --name TEXT -o OUT"},
		"policy diff":                      {"policy diff default active", "policy diff default active -f json", "policy diff default active -f github", "policy diff TEXT INPUTS"},
		"policy effective":                 {"policy effective", "policy effective -f json", "policy effective TEXT"},
		"policy fleet":                     {"policy fleet INPUTS", "policy fleet INPUTS -f json"},
		"policy keygen":                    {"policy keygen --type TEXT --out OUT"},
		"policy list":                      {"policy list", "policy list -f json"},
		"policy pull":                      {"policy pull TEXT", "policy pull INPUTS --activate", "policy pull oci-layout:TEXT:v1", "policy pull oci://TEXT"},
		"policy push":                      {"policy push TEXT INPUTS", "policy push INPUTS oci-layout:OUT:TEXT"},
		"policy rollback":                  {"policy rollback --reason TEXT", "policy rollback --to TEXT --reason x"},
		"policy serve":                     {"policy serve TEXT", "policy serve INPUTS --listen TEXT"},
		"policy sign":                      {"policy sign TEXT --signing-key TEXT", "policy sign INPUTS --signing-key env:TEXT", "policy sign INPUTS --signing-key exec:TEXT --verification-key TEXT"},
		"policy status":                    {"policy status", "policy status -f json"},
		"policy trust add":                 {"policy trust add TEXT --role TEXT --init", "policy trust add INPUTS --role root --init"},
		"policy trust remove":              {"policy trust remove TEXT", "policy trust remove TEXT --from INPUTS"},
		"policy trust rotate":              {"policy trust rotate TEXT --init", "policy trust rotate INPUTS --init"},
		"policy trust show":                {"policy trust show", "policy trust show -f json"},
		"policy trust sign":                {"policy trust sign TEXT --signing-key TEXT", "policy trust sign INPUTS --signing-key INPUTS"},
		"policy verify":                    {"policy verify TEXT", "policy verify INPUTS", "policy verify INPUTS --against TEXT -f json"},
		"policy capabilities":              {"policy capabilities", "policy capabilities TEXT"},
		"policy check":                     {"policy check", "policy check -f json", "policy check TEXT", "policy check INPUTS"},
		"policy explain":                   {"policy explain RECORD", "policy explain RECORD -f json", "policy explain --bash TEXT", "policy explain TEXT", "policy explain INPUTS"},
		"policy eval":                      {"policy eval event RECORD", "policy eval event RECORD -f json", "policy eval --rego input --bash TEXT", "policy eval TEXT", "policy eval -i INPUTS"},
		"policy bench":                     {"policy bench RECORD --count 1", "policy bench RECORD --count 1 -f json", "policy bench --bash TEXT --count 1", "policy bench TEXT"},
		"policy profile":                   {"policy profile TRANSCRIPT", "policy profile TRANSCRIPT -f json", "policy profile TEXT", "policy profile INPUTS --policy TEXT"},
		"policy fmt":                       {"policy fmt TEXT", "policy fmt INPUTS"},
		"policy import claude-permissions": {"policy import claude-permissions INPUTS", "policy import claude-permissions TEXT"},
		"policy import safeclaw":           {"policy import safeclaw INPUTS"},
		"policy new bundle":                {"policy new bundle OUT --layer TEXT", "policy new bundle OUT --name TEXT"},
		"policy new case":                  {"policy new case TEXT", "policy new case x --rule TEXT"},
		"policy new pattern":               {"policy new pattern TEXT"},
		"policy new rule":                  {"policy new rule TEXT"},
		"policy rules":                     {"policy rules", "policy rules -f json", "policy rules --family TEXT"},
		"policy show":                      {"policy show", "policy show -f json", "policy show --policy TEXT"},
		"policy suggest":                   {"policy suggest RECORD --to CASES", "policy suggest TEXT --to CASES", "policy suggest RECORD"},
		"policy simulate manifest":         {"policy simulate manifest TRANSCRIPT", "policy simulate manifest TEXT", "policy simulate manifest INPUTS"},
		"policy simulate": {
			"policy simulate", "policy simulate -f json", "policy simulate -f html --baseline default", "policy simulate TRANSCRIPT", "policy simulate -v -f json TRANSCRIPT",
			"policy simulate -f github TRANSCRIPT", "policy simulate -f sarif TRANSCRIPT", "policy simulate -f html TRANSCRIPT", "policy simulate --baseline default --candidate active TRANSCRIPT",
			"policy simulate --shard 1/1 -f json -o PART TRANSCRIPT", "policy simulate --save-cases CASES TRANSCRIPT",
			"policy simulate -f json INPUTS", "policy simulate TEXT", "policy simulate TRANSCRIPT TEXT", "policy simulate --baseline TEXT TRANSCRIPT", "policy simulate --candidate TEXT TRANSCRIPT",
			"policy simulate --session TEXT TRANSCRIPT", "policy simulate --tool TEXT TRANSCRIPT", "policy simulate --tool TEXT -f json TRANSCRIPT", "policy simulate --sweep TEXT=1:2:1 TRANSCRIPT", "policy simulate --sweep TEXT TRANSCRIPT",
			"policy simulate --fail-on TEXT TRANSCRIPT", "policy simulate --sample TEXT TRANSCRIPT", "policy simulate --shard TEXT TRANSCRIPT", "policy simulate --since TEXT TRANSCRIPT",
			"policy simulate --manifest TEXT", "policy simulate --on TEXT TRANSCRIPT", "policy simulate --candidate-name TEXT -f json TRANSCRIPT",
		},
		"policy simulate merge":  {"policy simulate merge PART", "policy simulate merge TRANSCRIPT", "policy simulate merge TEXT"},
		"policy test":            {"policy test TEXT", "policy test INPUTS", "policy test --run TEXT"},
		"policy codes":           {"policy codes", "policy codes TEXT"},
		"policy docs":            {"policy docs", "policy docs TEXT"},
		"policy history diff":    {"policy history diff TEXT"},
		"policy history restore": {"policy history restore TEXT --reason TEXT"},
		"policy history show":    {"policy history show TEXT"},
		"policy new":             {"policy new TEXT --template TEXT"},
		"policy trust accept":    {"policy trust accept", "policy trust accept TEXT"},
		"policy trust restore":   {"policy trust restore", "policy trust restore TEXT"},
		"schema":                 {"schema", "schema TEXT"},
		"review":                 {"review <INPUTS", "review --policy TEXT"},
		"incident list":          {"incident list", "incident list -f json", "incident list --since TEXT", "incident list TEXT"},
		"incident show":          {"incident show ID", "incident show ID --all", "incident show ID -f json", "incident show TEXT"},
		"incident export":        {"incident export ID", "incident export ID -f json", "incident export ID -f patch", "incident export TEXT"},
		"incident close":         {"incident close ID --reason TEXT", "incident close TEXT --reason TEXT"},
		"checkpoint take":        {"checkpoint take", "checkpoint take -f json", "checkpoint take --workspace TEXT"},
		"checkpoint list":        {"checkpoint list", "checkpoint list --all -f json", "checkpoint list --session TEXT"},
		"checkpoint show":        {"checkpoint show latest", "checkpoint show latest -f json", "checkpoint show TEXT"},
		"checkpoint diff":        {"checkpoint diff 1", "checkpoint diff 1 now -f json", "checkpoint diff TEXT"},
		"checkpoint restore":     {"checkpoint restore latest", "checkpoint restore TEXT"},
		"checkpoint verify":      {"checkpoint verify", "checkpoint verify -f json", "checkpoint verify --workspace TEXT"},
		"checkpoint gc":          {"checkpoint gc", "checkpoint gc -f json", "checkpoint gc --keep TEXT"},
		"session rollback":       {"session rollback ID", "session rollback TEXT"},
		"watch":                  {"watch TEXT", "watch --summary /TEXT/s.json 1"},
		"run":                    {"run --profile TEXT -- true", "run --summary /TEXT/s.json -- true", "run -- TEXT"},
		"serve":                  {"serve TEXT"},
		"ui":                     {"ui --export OUT", "ui TEXT"},
		"notify deliver":         {"notify deliver"},
		"notify list":            {"notify list", "notify list -f json"},
		"notify test":            {"notify test", "notify test TEXT"},
		"session list":           {"session list", "session list -f json", "session list --since TEXT", "session list --workspace TEXT"},
		"session says":           {"session says ID", "session says ID -f json", "session says ID --lift 1", "session says TEXT"},
		"session scope":          {"session scope ID", "session scope ID -f json", "session scope ID --add TEXT", "session scope TEXT"},
		"session show":           {"session show ID", "session show ID -f json", "session show ID --agent TEXT", "session show TEXT"},
		"session mine":           {"session mine ID", "session mine TEXT"},
		"session resume":         {"session resume ID", "session resume TEXT"},
		"session abort":          {"session abort ID --reason TEXT", "session abort TEXT"},
		"session stop":           {"session stop ID --reason TEXT", "session stop TEXT"},
		"trash":                  {"trash --list", "trash --list -f json", "trash TEXT", "trash --restore TEXT"},
		"uninstall":              {"uninstall claude-code", "uninstall TEXT"},
		"version":                {"version", "version TEXT"},
	}
}

// quoting is a custom rule whose message quotes the call.
const quoting = `
- id: quoting
  title: says everything
  severity: medium
  decision: ask
  message: "This is {command} on {target}"
  remediation: "not {command}, on {paths}"
  match: {phases: [pre]}
  when: "true"
`

// Every report on a log that agents have filled with secrets: each command, and in
// every third form; in all of them with REVIEWER_EVERY=1 (`make fidelity`).
func TestNoSecretInAReportShows(t *testing.T) {
	w := newWatched(t)
	w.live()
	w.write("state/policy/rules/quoting.yaml", quoting)
	w.write("state/policy/settings.yaml", "enforcement: enforce\n")
	w.keepPolicies()
	w.fill()
	files := w.files()
	typed := reports()
	for _, command := range leaves(rootCommand(w.app)) {
		if typed[command] == nil {
			t.Errorf("no report of %q is looked at: add the lines to type to the table", command)
		}
	}
	for _, command := range leaves(rootCommand(w.app)) {
		for i, line := range typed[command] {
			writes := strings.Contains(line, " -o ") || strings.Contains(line, "--save-cases") // what others read
			if i%sweep.Some(6, 1) == 0 || writes {
				w.report(line, files)
			}
		}
	}
	w.searchFiles(w.state(), "policy/")
	w.private(w.state())
	w.searchFiles(filepath.Join(w.dir, "saved"))
	w.searchFiles(filepath.Join(w.dir, "tmp"))
	w.searchFiles(filepath.Join(w.dir, "home"))
}

// live takes the policy as a hook does, with what the state directory says.
func (w *watched) live() {
	w.t.Helper()
	var err error
	if w.review, err = reviewer(w.t.Context(), w.app, onDisk(), w.store); err != nil {
		w.t.Fatal(err)
	}
}

// keepPolicies has the policy of each workspace compiled once: no hook that
// follows changes it.
func (w *watched) keepPolicies() {
	live, known := w.review.Policy, map[string]*review.Policy{}
	w.review.Policy = func(workspace string) (p *review.Policy, err error) {
		if p = known[workspace]; p == nil {
			p, err = live(workspace)
			known[workspace] = p
		}
		return p, err
	}
}

func (w *watched) write(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *watched) read(name string) []byte {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// fill makes a log: of each kind a call that is held up, one that is allowed,
// results, a prompt; and a session that is one secret from its id on.
func (w *watched) fill() {
	w.t.Helper()
	for _, k := range secretKinds() {
		secret := w.plant("the log", k)
		dangerous := w.document("s", "Bash", map[string]any{"command": "rm -rf ~/photos; curl -T notes.txt '" + secret + "'"})
		w.hook("the log", "PreToolUse", dangerous)
		dangerous["error"] = "no: " + secret
		w.hook("the log", "PostToolUseFailure", dangerous)
		reading := w.document("s", "Read", map[string]any{"file_path": "/srv/" + secret})
		w.hook("the log", "PreToolUse", reading)
		reading["tool_response"] = secret
		w.hook("the log", "PostToolUse", reading)
		named := w.document(secret, "mcp__"+secret, map[string]any{secret: secret})
		named["tool_use_id"], named["agent_id"], named["prompt_id"], named["cwd"], named["permission_mode"] = secret, secret, secret, "/srv/"+secret, secret
		w.hook("the log", "PreToolUse", named)
		named["prompt"] = secret
		w.hook("the log", "UserPromptSubmit", named)
	}
}

// files writes what commands read: documents that agents have written, with a
// secret in each place, and one on the command line.
func (w *watched) files() map[string]string {
	w.t.Helper()
	var inputs, transcript strings.Builder
	lines := bytes.Split(bytes.TrimSpace(readFile(w.t, "../../testdata/transcripts/claude-code-shop.jsonl")), []byte("\n"))
	names := []string{"PreToolUse-Bash.json", "PostToolUse-Write.json", "UserPromptSubmit.json"}
	for i, k := range secretKinds() {
		name := names[i%len(names)]
		for _, doc := range w.planted("review of "+name, readFile(w.t, filepath.Join(hookInputs, name)), k) {
			inputs.Write(append(doc, '\n'))
		}
		for j := i; j < len(lines); j += 2 * len(secretKinds()) {
			for _, doc := range w.planted(fmt.Sprintf("line %d of a transcript", j+1), lines[j], k) {
				transcript.Write(append(doc, '\n'))
			}
		}
		transcript.WriteString(w.plant("a line that is none", k) + "\n")
	}
	return map[string]string{
		"INPUTS": w.write("inputs.jsonl", inputs.String()), "TRANSCRIPT": w.write("transcript.jsonl", transcript.String()),
		"OUT": filepath.Join(w.dir, "seals.jsonl"), "PART": filepath.Join(w.dir, "part.json"), "CASES": filepath.Join(w.dir, "saved"), "TEXT": w.plant("the command line", secretKinds()[0]),
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// report types a line, for every session and held-up call that it may name.
func (w *watched) report(line string, files map[string]string) {
	w.t.Helper()
	ids := []string{""}
	if strings.Contains(line, "ID") {
		ids = w.sessions()
	} else if strings.Contains(line, "RECORD") {
		ids = w.records()
	}
	for _, id := range ids {
		stdin := ""
		var args []string
		for _, word := range strings.Fields(line) {
			word = strings.NewReplacer("ID", id, "RECORD", id).Replace(word)
			for name, value := range files {
				word = strings.ReplaceAll(word, name, value)
			}
			if file, ok := strings.CutPrefix(word, "<"); ok {
				stdin = string(readFile(w.t, file))
				continue
			}
			args = append(args, word)
		}
		if code, _, stderr := w.cli(stdin, args...); code != cli.ExitOK && code != cli.ExitFindings && stderr == "" {
			w.t.Errorf("reviewer %s ends with exit code %d and says nothing", line, code)
		}
	}
}

func (w *watched) sessions() []string {
	w.t.Helper()
	list, err := w.store.Sessions()
	if err != nil {
		w.t.Fatal(err)
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.Chain)
	}
	if len(ids) < 3 {
		w.t.Errorf("only %d sessions are recorded", len(ids))
	}
	return ids[:min(len(ids), 3)]
}

// records are the calls of the log, a few of them.
func (w *watched) records() []string {
	w.t.Helper()
	_, out, _ := w.cli("", "audit", "export", "-f", "jsonl")
	var ids []string
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var r struct{ ID, Kind string }
		if err := d.Decode(&r); err != nil {
			w.t.Fatal(err)
		}
		if r.Kind == "pre" || r.Kind == "post" {
			ids = append(ids, r.ID)
		}
	}
	if len(ids) == 0 {
		w.t.Fatal("no calls are recorded")
	}
	return slices.Collect(func(yield func(string) bool) {
		for i := 0; i < len(ids) && yield(ids[i]); i += sweep.Some(25, 5) {
		}
	})
}

// A policy that does not compile is quoted to the agent and to the person: with
// one kind of secret in it, with five where REVIEWER_EVERY=1 (`make fidelity`).
func TestNoSecretOfAPolicyShows(t *testing.T) {
	kinds := []secretKind{secretKinds()[0], secretKinds()[1], secretKinds()[4], secretKinds()[6], secretKinds()[10]} // of one line
	for name, file := range map[string]struct{ path, text string }{
		"wrong key":    {"settings.yaml", "enforcement: enforce\n%q: 1\n"},
		"wrong value":  {"settings.yaml", "enforcement: %q\n"},
		"wrong type":   {"settings.yaml", "risk: {high_threshold: %q}\n"},
		"no YAML":      {"settings.yaml", "enforcement: enforce\nhosts: {known: [%s\n"},
		"condition":    {"rules/a.yaml", "- id: a\n  title: a\n  severity: high\n  decision: ask\n  message: m\n  remediation: r\n  when: 'event.tol == %q'\n"},
		"Rego":         {"a.rego", "package policies.user\n\nfindings contains f if {\n\tf := %q + nothing.here\n}\n"},
		"Rego as text": {"a.rego", "package policies.user\n\n{{{ %s\n"},
		"date":         {"access/a.yaml", "id: a\ndefault: deny\nrules:\n  - {id: a, effect: deny, expires_at: %q}\n"},
		"pattern":      {"detectors/a.yaml", "- id: a\n  title: a\n  pattern: '(?=%s)'\n  in: [arguments]\n  examples: {match: [a], no_match: [b]}\n"},
		"unknown file": {"%s.yaml", "a: 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatched(t)
			w.live()
			for i, k := range kinds[:sweep.Some(1, len(kinds))] {
				secret := w.plant(name, k)
				if strings.Contains(file.path, "%s") && strings.Contains(secret, "/") {
					continue // not a name
				}
				path, text := filled(file.path, secret), filled(file.text, secret)
				written := w.write("state/policy/"+path, text)
				if i == 0 {
					code, _, _ := w.cli("", "policy", "show")
					if code == cli.ExitOK {
						t.Fatalf("the policy is accepted: %s", text)
					}
				}
				w.hook("a policy", "PreToolUse", w.document("s", "Bash", map[string]any{"command": "ls"}))
				w.cli("", "config", "check")
				w.cli("", "config", "check", "-f", "json", filepath.Join(w.dir, "state", "policy"))
				w.cli("", "policy", "show", "--policy", filepath.Join(w.dir, "state", "policy"))
				if i == 0 {
					w.cli("", "doctor")
				}
				if err := os.Remove(written); err != nil {
					t.Fatal(err)
				}
			}
			w.searchFiles(w.state(), "policy/", "policies/") // every policy that decides is kept as it is
		})
	}
}

func filled(text, secret string) string {
	quoted := fmt.Sprintf("%q", secret)
	return strings.NewReplacer("%q", quoted, "%s", secret).Replace(text)
}

// A program that fails inside says where and of what type, and not what a call
// held: to the agent, to the person, in the file that it leaves.
func TestNoSecretOfACrashShows(t *testing.T) {
	w := newWatched(t)
	for _, k := range secretKinds() {
		secret := w.plant("a panic", k)
		env := w.app.Env
		broken := *w.app
		broken.Env = func(name string) string {
			if name == "TMPDIR" || name == "CLAUDECODE" {
				panic(secret)
			}
			return env(name)
		}
		for _, line := range []string{"hook claude-code PreToolUse", "hook claude-code PostToolUse", "review", "trash --list", "denials"} {
			event, _ := json.Marshal(w.document("s", "Bash", map[string]any{"command": "echo " + secret}))
			var out, errs bytes.Buffer
			broken.Stdin, broken.Stdout, broken.Stderr = bytes.NewReader(event), &out, &errs
			code := run(t.Context(), &broken, strings.Fields(line))
			w.clean(line, slices.Concat(out.Bytes(), errs.Bytes()))
			want := cli.ExitFailed
			if line == "hook claude-code PreToolUse" {
				want = 2 // a denial
			}
			if strings.HasSuffix(line, "PostToolUse") {
				want = cli.ExitOK // there is nothing to deny any more
			} else if !strings.Contains(errs.String(), "internal error (string)") {
				t.Errorf("reviewer %s says %q, want an internal error", line, errs.String())
			}
			if code != want {
				t.Errorf("reviewer %s ends with exit code %d, want %d", line, code, want)
			}
			if trace := string(w.read("state/crash.txt")); !strings.Contains(trace, "cmd/reviewer/cli.(*App)") {
				t.Errorf("the trace of %s does not say where: %s", line, trace)
			}
		}
	}
	w.searchFiles(w.state())
}

// The program itself, as the client starts it: with the real standard output,
// the real state, the policy read from disk. Every fifth kind of secret is tried;
// all with REVIEWER_EVERY=1 (`make fidelity`).
func TestNoSecretOfTheProgramShows(t *testing.T) {
	w := newWatched(t)
	for i, k := range secretKinds() {
		if i%sweep.Some(5, 1) != 0 {
			continue
		}
		secret := w.plant("the program", k)
		w.env = []string{"CLAUDE_PROJECT_DIR=" + w.dir + "/" + secret}
		for _, event := range []string{"PreToolUse", "PostToolUse"} {
			doc := w.document(secret, "Bash", map[string]any{"command": "rm -rf ~ '" + secret + "'", secret: secret})
			doc["tool_use_id"] = secret
			raw, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			for _, input := range [][]byte{raw, raw[:len(raw)-1], []byte(secret)} {
				r := w.run(input, "hook", "claude-code", event)
				w.clean("the hook of "+event, []byte(r.stdout+r.stderr))
				if event == "PreToolUse" && r.code != cli.ExitFindings {
					t.Errorf("the hook ends with exit code %d: %s", r.code, r.stderr)
				}
			}
		}
	}
	w.sound()
	w.searchFiles(w.state())
}

func hexDigest(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// The search finds what it is there for, in each of the spellings.
func TestGardenFinds(t *testing.T) {
	g := newGarden()
	secret := g.plant("here", secretKinds()[0])
	bare := strings.TrimPrefix(secret, "ghp_")
	for name, text := range map[string]string{
		"as it is": secret, "a half": "x" + bare[20:] + "x", "the end": bare[len(bare)-8:], "in base64": "x" + base64.StdEncoding.EncodeToString([]byte(" "+secret)), "shifted": base64.StdEncoding.EncodeToString([]byte("ab" + bare + "cd")), "in hex": fmt.Sprintf("%x", secret),
		"digest": hexDigest(bare), "digest of the text": hexDigest(secret)[:20],
	} {
		if len(g.find([]byte("before "+text+" behind"))) == 0 {
			t.Errorf("%s is not found: %s", name, text)
		}
	}
	if found := g.find([]byte("REDACTED_github_token_0123abcd " + bare[:7] + " " + hexDigest(bare+"x"))); len(found) != 0 {
		t.Errorf("found %v where nothing is", found)
	}
}
