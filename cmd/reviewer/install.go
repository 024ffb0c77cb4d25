package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/installed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/signed"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/harness/settings"
	"github.com/spf13/cobra"
)

// scopeFlags choose the settings file.
type scopeFlags struct{ managed, user, project bool }

func (s *scopeFlags) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.managed, "managed", false, "use the machine-wide settings, which no repository can turn off (needs root)")
	cmd.Flags().BoolVar(&s.user, "user", false, "use your own settings, for all projects (default)")
	cmd.Flags().BoolVar(&s.project, "project", false, "use the settings of the project in this folder")
	cmd.MarkFlagsMutuallyExclusive("managed", "user", "project")
}

func (s *scopeFlags) layer() string {
	switch {
	case s.managed:
		return settings.LayerManaged
	case s.project:
		return settings.LayerProject
	}
	return settings.LayerUser
}

func installCommand(a *cli.App) *cobra.Command {
	var scope scopeFlags
	var which choice
	var o installOptions
	var resident bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "install AGENT | --all | --detect",
		Short: "Add reviewer's hooks to an agent's settings",
		Long: "AGENT is one of: " + strings.Join(settings.Names(), ", ") + ". Adds reviewer's hooks to the agent's\n" +
			"settings and changes nothing else; a backup is kept, and installing again is safe. --detect\n" +
			"selects every agent whose program or settings folder is on this machine. Start with\n" +
			"--enforcement observe, which records what would have been decided and blocks nothing.\n" +
			"On Linux the agent starts reviewer-hook, if it is next to this program: a small program that\n" +
			"queries the resident process (see reviewer serve). Codex runs only hooks that are trusted:\n" +
			"if it is installed, this command makes it trust them.",
		Example: "  reviewer install claude-code --enforcement observe\n  reviewer install --detect\n" +
			"  sudo reviewer install claude-code --managed",
		Args:      which.known,
		ValidArgs: settings.Names(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.layer = scope.layer(); cmd.Flags().Changed("resident") {
				o.wish = residentWish(resident)
			}
			agents, err := which.agents(a, args, o.layer)
			if err != nil {
				return err
			}
			return install(cmd.Context(), a, &out, o, agents, which.several())
		},
	}
	scope.flags(cmd)
	which.flags(cmd)
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "print the settings that would be written, without writing them")
	cmd.Flags().StringVar(&o.enforcement, "enforcement", "",
		"observe (record only), warn, or enforce; if omitted, prompts at a terminal")
	cmd.Flags().BoolVar(&resident, "resident", true,
		"let the agent start reviewer-hook, which queries the resident process; =false: reviewer itself")
	cli.Completes(cmd, "enforcement", "observe", "warn", "enforce")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// installOptions are what a person chose for all agents.
type installOptions struct {
	layer, enforcement string
	dry                bool
	kept               bool   // the enforcement stays as it is, and nobody is asked
	code               string // the approval code, if it was made or asked for
	wish               wish
}

// installation is the result of `reviewer install` for one agent.
type installation struct {
	Agent       string   `json:"agent"`
	Settings    string   `json:"settings"`        // the file
	Files       []string `json:"files,omitempty"` // all of them, if there are several
	Changed     bool     `json:"changed"`         // false: it was installed already
	Backup      string   `json:"backup,omitempty"`
	State       string   `json:"state"`
	Enforcement string   `json:"enforcement"` // that is active now
	Managed     bool     `json:"managed"`     // no repository can turn it off
	Client      string   `json:"client,omitempty"`
	Program     string   `json:"program"`         // that the agent starts
	Resident    bool     `json:"resident"`        // it is the client of the resident process
	Notes       []string `json:"notes,omitempty"` // what a person must know or do

	agent    settings.Agent
	lockable bool // there are managed settings that reviewer can write
	edits    []fileEdit
}

// fileEdit is the change of one file.
type fileEdit struct {
	settings.Layer
	old, new []byte
}

func (e fileEdit) changes() bool {
	return (e.old == nil) != (e.new == nil) || !bytes.Equal(e.old, e.new)
}

func install(ctx context.Context, a *cli.App, out *term.Output, o installOptions, agents []settings.Agent, several bool) error {
	home, err := a.StateHome()
	if err != nil {
		return err
	}
	command, err := commandOfHook(ctx, home, o.wish)
	if err != nil {
		return err
	}
	command.Wait = questionTime(home)
	if command.Rules, err = clientRules(home); err != nil {
		return err
	}
	list, failed := planAll(a, command, o, home, agents, signed.Adoption{Keep: true})
	if failed != nil && !several || len(list) == 0 {
		return failed
	}
	key, err := adopt(ctx, a, o, home)
	if err != nil {
		return err
	}
	o.code = key.Given
	list, failed = planAll(a, command, o, home, agents, key)
	if failed != nil && !several {
		return failed
	}
	if o.dry {
		return errors.Join(printEdits(a.Stdout, list), failed)
	}
	return errors.Join(apply(ctx, a, out, o, home, list, several), failed)
}

// adopt finds the fingerprint of the person's key for hooks in their own settings. Other settings serve many people or
// machines.
func adopt(ctx context.Context, a *cli.App, o installOptions, home string) (signed.Adoption, error) {
	if o.layer != settings.LayerUser {
		return signed.Adoption{}, nil
	}
	a.Home = home
	store, err := a.OpenStore()
	if err != nil {
		return signed.Adoption{}, err
	}
	how := signed.Quiet
	switch {
	case o.dry:
		how = signed.Shown
	case a.StdinTerminal() && !o.kept:
		how = signed.Asking
	}
	key, err := signed.Adopt(ctx, a, store, how)
	if key.Secret != "" {
		fmt.Fprintf(a.Stderr, "approval code: %s\nIt signs what you allow. It is not shown again; "+
			"keep it where no tool of an agent can read it.\n", key.Secret)
	}
	return key, err
}

// planAll computes what is to be written for several agents.
func planAll(a *cli.App, command settings.HookCommand, o installOptions, home string, agents []settings.Agent,
	key signed.Adoption) (list []installation, failed error) {
	for _, agent := range agents {
		d := installation{Agent: agent.Name, State: home, Program: command.Program, Resident: isHookClient(command.Program),
			Managed: o.layer == settings.LayerManaged, Notes: slices.Clone(key.Notes), agent: agent}
		if command.Key = key.Key; key.Keep {
			command.Key = key.Own[agent.Name]
		}
		err := key.New
		if _, installed := key.Own[agent.Name]; installed || err == nil {
			err = d.plan(a, command, o.layer)
		}
		if err != nil {
			if len(agents) > 1 {
				err = fmt.Errorf("%s: %w", agent.Name, err)
			}
			failed = errors.Join(failed, err)
			continue
		}
		list = append(list, d)
	}
	return list, failed
}

// plan computes what is to be written to the files of an agent.
func (d *installation) plan(a *cli.App, command settings.HookCommand, layer string) error {
	p, err := signed.Places(a)
	if err != nil {
		return err
	}
	targets := d.agent.Targets(p, layer)
	d.lockable = len(d.agent.Targets(p, settings.LayerManaged)) > 0
	if len(targets) == 0 {
		return fmt.Errorf("%s has no %s settings that reviewer can write on %s", d.Agent, layer, p.OS)
	}
	if d.Agent == harness.ClaudeCode {
		d.Client = command.Client
	}
	for _, l := range targets {
		old, err := readOptional(l.Path)
		if err != nil {
			return err
		}
		changed, err := l.Format.Install(old, command)
		if err != nil {
			return fmt.Errorf("%s: %w", l.Path, err)
		}
		d.edits = append(d.edits, fileEdit{l, old, changed})
	}
	d.Settings = d.edits[0].Path
	if len(d.edits) > 1 {
		for _, e := range d.edits {
			d.Files = append(d.Files, e.Path)
		}
	}
	return nil
}

// printEdits prints the files, with their names if there are several.
func printEdits(w io.Writer, list []installation) error {
	var edits []fileEdit
	for _, d := range list {
		edits = append(edits, d.edits...)
	}
	for _, e := range edits {
		if len(edits) > 1 {
			fmt.Fprintf(w, "==> %s <==\n", e.Path)
		}
		if _, err := w.Write(e.new); err != nil {
			return err
		}
	}
	return nil
}

// apply writes the files. The policy must compile before any hook depends on it.
func apply(ctx context.Context, a *cli.App, out *term.Output, o installOptions, home string, list []installation, several bool) error {
	if len(list) == 0 {
		return nil // the errors say why
	}
	if o.enforcement == "" && !o.kept {
		o.enforcement = askEnforcement(a)
	}
	active, err := prepareState(ctx, a, home, o.enforcement, o.code)
	if err != nil {
		return err
	}
	var failed error
	for i := range list {
		list[i].Enforcement = active
		if err := list[i].write(ctx, o.layer); err != nil {
			failed = errors.Join(failed, fmt.Errorf("write settings: %w", err))
			continue
		}
		failed = errors.Join(failed, list[i].keep(ctx, a, o.layer))
	}
	if !several {
		if failed != nil {
			return failed
		}
		return out.Result(a.Stdout, list[0], list[0].text)
	}
	return errors.Join(out.Result(a.Stdout, installations{list}, installations{list}.text), failed)
}

// installations is the result of `reviewer install` for several agents.
type installations struct {
	Agents []installation `json:"agents"`
}

// text prints once what is the same for all.
func (l installations) text(w io.Writer) {
	for i, d := range l.Agents {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s:\n", d.Agent)
		d.own(w)
	}
	if len(l.Agents) > 0 {
		fmt.Fprintln(w)
		l.Agents[0].common(w)
		fmt.Fprintln(w, "run `reviewer doctor` to check that denials work, and `reviewer doctor --live` to see a denial in each agent")
	}
}

// keep records the hooks as they are now: the resident process tells people when that changes.
func (d *installation) keep(ctx context.Context, a *cli.App, layer string) error {
	store, err := a.OpenStore()
	if err != nil {
		return err
	}
	p, err := signed.Places(a)
	if err != nil {
		return err
	}
	for _, e := range d.edits {
		if err := installed.Installed(ctx, store, d.agent, p, layer, e.Path); err != nil {
			return fmt.Errorf("record the installation: %w", err)
		}
	}
	return nil
}

func (d *installation) write(ctx context.Context, layer string) error {
	for _, e := range d.edits {
		if !e.changes() {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(e.Path), 0o755); err != nil {
			return fmt.Errorf("create the settings folder: %w", err)
		}
		backup, err := e.Write(e.old, e.new)
		if err != nil {
			return err
		}
		d.Changed, d.Backup = true, cmp.Or(backup, d.Backup)
	}
	if layer == settings.LayerManaged {
		d.Notes = append(d.Notes, "one file serves everybody here: `sudo reviewer approvals code --user NAME` states whose approval code "+
			"counts, for each person who has one")
	}
	if d.agent.Note != "" {
		d.Notes = append(d.Notes, d.agent.Note)
	}
	if layer == settings.LayerManaged && runtime.GOOS != "linux" && d.Agent != harness.ClaudeCode {
		d.Notes = append(d.Notes, "the location of these managed settings comes from the agent's own code and was never tested: "+
			"try a call that must be denied")
	}
	if d.Agent == harness.Codex && layer != settings.LayerManaged {
		d.Notes = append(d.Notes, trustCodex(ctx))
	}
	return nil
}

// prepareState makes the state directory, its key, and a policy that compiles,
// before any hook depends on them. It returns the enforcement that is active.
func prepareState(ctx context.Context, a *cli.App, home, enforcement, code string) (string, error) {
	a.Home = home
	store, err := a.OpenStore()
	if err != nil {
		return "", err
	}
	if _, err := store.MAC(); err != nil {
		return "", err
	}
	if enforcement != "" {
		if err := chooseEnforcement(ctx, a, store, enforcement, code); err != nil {
			return "", err
		}
	}
	if _, err := activePolicy(ctx, a, ""); err != nil {
		return "", err
	}
	eff, err := cli.MachineAt(home).Effective("")
	if err != nil {
		return "", err
	}
	a.NoteOwn(eff.Notice)
	return eff.Settings.Enforcement, store.Note(ctx, engine.Note{What: "install", Detail: "enforcement " + enforcement})
}

// askEnforcement offers to observe first. If nobody can be asked, the policy's own
// setting is kept.
func askEnforcement(a *cli.App) string {
	if !a.StdinTerminal() {
		return ""
	}
	fmt.Fprint(a.Stderr, "Only record for now and block nothing (observe), or enforce the policy (enforce)? [observe] ")
	line, err := bufio.NewReader(a.Stdin).ReadString('\n')
	if answer := strings.TrimSpace(line); err == nil && answer != "" {
		return answer
	}
	return "observe"
}

func (d installation) text(w io.Writer) {
	d.written(w)
	d.common(w)
	d.remarks(w)
	fmt.Fprintln(w, "run `reviewer doctor` to check that denials work")
}

// own is the part that concerns the agent alone.
func (d installation) own(w io.Writer) {
	d.written(w)
	d.remarks(w)
}

func (d installation) written(w io.Writer) {
	if d.Changed {
		fmt.Fprintf(w, "installed in %s\n", d.Settings)
	} else {
		fmt.Fprintf(w, "already installed: %s is unchanged\n", d.Settings)
	}
	if n := len(d.Files) - 1; n > 0 {
		fmt.Fprintf(w, "and in %s: %s\n", engine.Counted(n, "more file", "more files"), strings.Join(d.Files[1:], ", "))
	}
	if d.Backup != "" {
		fmt.Fprintf(w, "backup of the previous settings: %s\n", d.Backup)
	}
}

// common is the part that is the same for all agents.
func (d installation) common(w io.Writer) {
	fmt.Fprintf(w, "state and log: %s\n", d.State)
	fmt.Fprintf(w, "program of the hooks: %s\n", d.Program)
	fmt.Fprintf(w, "enforcement: %s (%s)\n", d.Enforcement, effectOf(d.Enforcement))
}

func (d installation) remarks(w io.Writer) {
	fmt.Fprintln(w, d.standing())
	for _, note := range d.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	if d.Agent == harness.ClaudeCode {
		d.clientText(w)
	}
}

// standing reports whether a repository can turn the hooks off.
func (d installation) standing() string {
	switch {
	case d.Managed && d.agent.Stands != "":
		return "managed: " + d.agent.Stands
	case d.Managed:
		return "managed: no repository can turn this off"
	case d.agent.Off == "":
		return "advisory: no way for a repository to turn this off is known, but the user can"
	}
	return "advisory: a repository can turn this off (" + d.agent.Off + ")" +
		map[bool]string{true: "; use --managed to prevent that"}[d.lockable]
}

func (d installation) clientText(w io.Writer) {
	if d.Client == "" {
		fmt.Fprintln(w, "the client was not found on PATH, so the hooks are written in a form that every version understands")
	} else if !settings.ExecForm(d.Client) {
		fmt.Fprintf(w, "client %s is older than 2.1.295: if the hook is killed, the call runs; update the client\n", d.Client)
	}
}

// effectOf describes what an enforcement means for a call that policy would stop.
func effectOf(enforcement string) string {
	switch enforcement {
	case "observe":
		return "calls are recorded, none is blocked"
	case "warn":
		return "the agent is warned, no call is blocked"
	}
	return "calls are blocked as the policy decides"
}

// commandOfHook returns the command that the agent starts, at an absolute path: this program, or
// the client of the resident process.
func commandOfHook(ctx context.Context, home string, w wish) (settings.HookCommand, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return settings.HookCommand{}, fmt.Errorf("find this program: %w", err)
	}
	if strings.Contains(program, string(filepath.Separator)+"go-build") {
		return settings.HookCommand{}, errors.New("this is a temporary binary of `go run`; build it first (`make build`) and install that")
	}
	if program, err = hookProgram(program, w); err != nil {
		return settings.HookCommand{}, err
	}
	return settings.HookCommand{Program: program, Home: home, Client: clientVersion(ctx), System: runtime.GOOS}, nil
}

// clientVersion asks the client on PATH; empty if there is none.
func clientVersion(ctx context.Context) string {
	path, err := exec.LookPath("claude")
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return ""
	}
	return regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(string(out))
}

// readOptional reads a file; nil if there is none.
func readOptional(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	return b, nil
}
