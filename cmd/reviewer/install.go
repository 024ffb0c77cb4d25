package main

import (
	"bufio"
	"bytes"
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
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
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
		return harness.LayerManaged
	case s.project:
		return harness.LayerProject
	}
	return harness.LayerUser
}

func installCommand(a *cli.App) *cobra.Command {
	var scope scopeFlags
	var dry bool
	var enforcement string
	var resident bool
	var out term.Output
	cmd := &cobra.Command{
		Use:   "install AGENT",
		Short: "Add reviewer's hooks to an agent's settings",
		Long: "AGENT is " + strings.Join(harness.Installable(), " or ") + ". Adds reviewer's hooks to the agent's settings and changes nothing else; a backup\n" +
			"is kept, and installing again is safe. Start with --enforcement observe, which\n" +
			"records what would have been decided and blocks nothing. On Linux the agent starts\n" +
			"reviewer-hook, if it is next to this program: a small program that queries the resident\n" +
			"process (see reviewer serve).",
		Example:   "  reviewer install claude-code --enforcement observe\n  sudo reviewer install claude-code --managed",
		Args:      knownAgent,
		ValidArgs: harness.Installable(),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := installation{Agent: args[0], layer: scope.layer(), Enforcement: enforcement, dry: dry, wish: unsaid}
			if cmd.Flags().Changed("resident") {
				d.wish = residentWish(resident)
			}
			return install(cmd.Context(), a, &out, d)
		},
	}
	scope.flags(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the settings that would be written, without writing them")
	cmd.Flags().StringVar(&enforcement, "enforcement", "", "observe (record only), warn, or enforce; if missing, you are asked at a terminal")
	cmd.Flags().BoolVar(&resident, "resident", true,
		"let the agent start reviewer-hook, which queries the resident process; false: reviewer itself")
	cli.Completes(cmd, "enforcement", "observe", "warn", "enforce")
	out.Flags(cmd, term.Text, "json")
	return cmd
}

// knownAgent accepts a known agent, and lists them in its error.
func knownAgent(cmd *cobra.Command, args []string) error {
	list := strings.Join(harness.Installable(), ", ")
	switch {
	case len(args) == 0:
		return fmt.Errorf("no agent given: expected `%s AGENT`, where AGENT is one of %s", cmd.CommandPath(), list)
	case len(args) > 1:
		return cobra.ExactArgs(1)(cmd, args)
	case !slices.Contains(harness.Installable(), args[0]):
		return term.Unknown("agent", args[0], harness.Installable())
	}
	return nil
}

// installation is the result of `reviewer install`.
type installation struct {
	Agent       string `json:"agent"`
	Settings    string `json:"settings"` // the file
	Changed     bool   `json:"changed"`  // false: it was installed already
	Backup      string `json:"backup,omitempty"`
	State       string `json:"state"`
	Enforcement string `json:"enforcement"` // that is active now
	Managed     bool   `json:"managed"`     // no repository can turn it off
	Client      string `json:"client,omitempty"`
	Program     string `json:"program"`  // that the agent starts
	Resident    bool   `json:"resident"` // it is the client of the resident process

	wish  wish
	layer string
	dry   bool
	set   bool // --enforcement was given, or the question answered
}

func install(ctx context.Context, a *cli.App, out *term.Output, d installation) error {
	home, err := a.StateHome()
	if err != nil {
		return err
	}
	path, err := settingsPath(a, d.layer)
	if err != nil {
		return err
	}
	command, err := commandOfHook(ctx, home, d.wish)
	if err != nil {
		return err
	}
	d.Program, d.Resident = command.Program, isHookClient(command.Program)
	old, err := readOptional(path)
	if err != nil {
		return err
	}
	changed, err := harness.Install(old, command, harness.ClaudeCodeEvents())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if d.dry {
		_, err := a.Stdout.Write(changed)
		return err
	}
	if d.Enforcement == "" {
		d.Enforcement = askEnforcement(a)
	}
	d.set = d.Enforcement != ""
	if d.Enforcement, err = prepareState(ctx, a, home, d.Enforcement); err != nil {
		return err
	}
	d.Settings, d.State, d.Client, d.Managed = path, home, command.Client, d.layer == harness.LayerManaged
	if d.Changed = !bytes.Equal(old, changed); !d.Changed {
		return out.Result(a.Stdout, d, d.text)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("create the settings folder: %w", err)
	}
	if d.Backup, err = harness.WriteSettings(path, old, changed); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return out.Result(a.Stdout, d, d.text)
}

// prepareState makes the state directory, its key, and a policy that compiles,
// before any hook depends on them. It returns the enforcement that is active.
func prepareState(ctx context.Context, a *cli.App, home, enforcement string) (string, error) {
	a.Home = home
	store, err := a.OpenStore()
	if err != nil {
		return "", err
	}
	if _, err := store.MAC(); err != nil {
		return "", err
	}
	if enforcement != "" {
		if err := setEnforcement(home, enforcement); err != nil {
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
	active, _ := eff.Settings["enforcement"].(string)
	return active, store.Note(ctx, engine.Note{What: "install", Detail: "enforcement " + enforcement})
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
	switch {
	case d.Changed:
		fmt.Fprintf(w, "installed in %s\n", d.Settings)
	case d.set:
		fmt.Fprintf(w, "already installed in %s, nothing changed\n", d.Settings)
	default:
		fmt.Fprintf(w, "already installed in %s, nothing changed\n", d.Settings)
	}
	if d.Backup != "" {
		fmt.Fprintf(w, "backup of the previous settings: %s\n", d.Backup)
	}
	fmt.Fprintf(w, "state and log: %s\n", d.State)
	fmt.Fprintf(w, "program of the hooks: %s\n", d.Program)
	fmt.Fprintf(w, "enforcement: %s (%s)\n", d.Enforcement, effectOf(d.Enforcement))
	if d.Managed {
		fmt.Fprintln(w, "managed: no repository can turn this off")
	} else {
		fmt.Fprintln(w, "advisory: a repository can turn this off (disableAllHooks); use --managed to prevent that")
	}
	if d.Client == "" {
		fmt.Fprintln(w, "the client was not found on PATH, so the hooks are written in a form that every version understands")
	} else if !harness.ExecForm(d.Client) {
		fmt.Fprintf(w, "client %s is older than 2.1.295: if the hook is killed, the call runs; update the client\n", d.Client)
	}
	fmt.Fprintln(w, "run `reviewer doctor` to check that denials work")
}

// effectOf describes what an enforcement means for a call that policy would stop.
func effectOf(enforcement string) string {
	switch enforcement {
	case "observe":
		return "calls are recorded, none is blocked"
	case "warn":
		return "the agent is warned, no call is blocked"
	}
	return "calls are blocked as the policy says"
}

// commandOfHook returns the command that the agent starts, at an absolute path: this program, or
// the client of the resident process.
func commandOfHook(ctx context.Context, home string, w wish) (harness.HookCommand, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return harness.HookCommand{}, fmt.Errorf("find this program: %w", err)
	}
	if strings.Contains(program, string(filepath.Separator)+"go-build") {
		return harness.HookCommand{}, errors.New("this is a temporary binary of `go run`; build it first (`make build`) and install that")
	}
	if program, err = hookProgram(program, w); err != nil {
		return harness.HookCommand{}, err
	}
	return harness.HookCommand{Program: program, Home: home, Client: clientVersion(ctx), System: runtime.GOOS}, nil
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

func places(a *cli.App) (harness.Places, error) {
	home, err := a.UserHome()
	if err != nil {
		return harness.Places{}, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return harness.Places{}, fmt.Errorf("find the working directory: %w", err)
	}
	return harness.Places{OS: runtime.GOOS, Home: home, ConfigDir: a.Env("CLAUDE_CONFIG_DIR"), Project: cwd}, nil
}

func settingsPath(a *cli.App, layer string) (string, error) {
	places, err := places(a)
	if err != nil {
		return "", err
	}
	for _, l := range harness.SettingsLayers(places) {
		if l.Name == layer && !l.Dir {
			return l.Path, nil
		}
	}
	return "", fmt.Errorf("no location of the %s settings is known on %s", layer, places.OS)
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
