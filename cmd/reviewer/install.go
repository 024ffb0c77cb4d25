package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/spf13/cobra"
)

// scopeFlags say whose settings are meant.
type scopeFlags struct{ managed, user, project bool }

func (s *scopeFlags) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.managed, "managed", false, "the machine's settings, which no repository can switch off (needs root)")
	cmd.Flags().BoolVar(&s.user, "user", false, "your settings, for all projects (default)")
	cmd.Flags().BoolVar(&s.project, "project", false, "the settings of the project in this folder")
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
	cmd := &cobra.Command{
		Use:   "install claude-code",
		Short: "Put reviewer into an agent's settings",
		Long: "Adds reviewer's hooks to the settings without touching anything else there; a backup\n" +
			"is kept, and installing again changes nothing. Begin with --enforcement observe:\n" +
			"everything is recorded as it would have been decided, and nothing is held up.",
		Example:   "  reviewer install claude-code --enforcement observe\n  sudo reviewer install claude-code --managed",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: harness.Names(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return install(cmd.Context(), a, scope.layer(), enforcement, dry)
		},
	}
	scope.flags(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show the settings that would be written, and write nothing")
	cmd.Flags().StringVar(&enforcement, "enforcement", "", "observe (record only), warn, or enforce; asked for at a terminal")
	return cmd
}

func install(ctx context.Context, a *cli.App, layer, enforcement string, dry bool) error {
	home, err := a.StateHome()
	if err != nil {
		return err
	}
	path, err := settingsPath(a, layer)
	if err != nil {
		return err
	}
	command, err := commandOfHook(ctx, home)
	if err != nil {
		return err
	}
	old, err := readOptional(path)
	if err != nil {
		return err
	}
	changed, err := harness.Install(old, command, harness.ClaudeCodeEvents())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if dry {
		_, err := a.Stdout.Write(changed)
		return err
	}
	if enforcement == "" {
		enforcement = askEnforcement(a)
	}
	if err := prepareState(ctx, a, home, enforcement); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the settings' folder: %w", err)
	}
	backup, err := harness.WriteSettings(path, old, changed)
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	sayInstalled(a, layer, path, backup, home, command)
	return nil
}

// prepareState makes the state home, its key, and a policy that compiles,
// before any hook depends on them.
func prepareState(ctx context.Context, a *cli.App, home, enforcement string) error {
	a.Home = home
	store, err := a.OpenStore()
	if err != nil {
		return err
	}
	if _, err := store.MAC(); err != nil {
		return err
	}
	if enforcement != "" {
		if err := setEnforcement(home, enforcement); err != nil {
			return err
		}
	}
	if _, err := activePolicy(ctx, a, ""); err != nil {
		return err
	}
	return store.Note(ctx, engine.Note{What: "install", Detail: "enforcement " + enforcement})
}

// askEnforcement offers to watch first. Where nobody can be asked, the policy's
// own setting holds.
func askEnforcement(a *cli.App) string {
	if !a.StdinTerminal() {
		return ""
	}
	fmt.Fprint(a.Stderr, "Only watch for now and hold nothing up (observe), or hold to the policy (enforce)? [observe] ")
	line, err := bufio.NewReader(a.Stdin).ReadString('\n')
	if answer := strings.TrimSpace(line); err == nil && answer != "" {
		return answer
	}
	return "observe"
}

func sayInstalled(a *cli.App, layer, path, backup, home string, c harness.HookCommand) {
	fmt.Fprintf(a.Stdout, "installed in %s\n", path)
	if backup != "" {
		fmt.Fprintf(a.Stdout, "the settings before are in %s\n", backup)
	}
	fmt.Fprintf(a.Stdout, "state and log: %s\n", home)
	if layer == harness.LayerManaged {
		fmt.Fprintln(a.Stdout, "enforced: no repository can switch this off")
	} else {
		fmt.Fprintln(a.Stdout, "advisory: a repository can switch this off (disableAllHooks); --managed cannot be switched off")
	}
	if c.Client == "" {
		fmt.Fprintln(a.Stdout, "the client was not found on PATH, so the hooks are in the form that every version understands")
	} else if !harness.ExecForm(c.Client) {
		fmt.Fprintf(a.Stdout, "client %s is older than 2.1.295: a hook that is killed lets the call run; update the client\n", c.Client)
	}
	fmt.Fprintln(a.Stdout, "`reviewer doctor` proves that a denial denies")
}

// commandOfHook is what the client is to start: this program, at an absolute path.
func commandOfHook(ctx context.Context, home string) (harness.HookCommand, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return harness.HookCommand{}, fmt.Errorf("find this program: %w", err)
	}
	if strings.Contains(program, string(filepath.Separator)+"go-build") {
		return harness.HookCommand{}, errors.New("this is a temporary program of `go run`; build it first (`make build`) and install that")
	}
	return harness.HookCommand{Program: program, Home: home, Client: clientVersion(ctx)}, nil
}

// clientVersion asks the client on PATH; empty where there is none.
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
	return "", fmt.Errorf("no settings file of the %s layer is known on %s", layer, places.OS)
}

// readOptional reads a file; nil where there is none.
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
