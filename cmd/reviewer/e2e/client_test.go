package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const clientPackage = "@anthropic-ai/claude-code"

// InstallClient makes sure that the client is in the cache folder and returns
// its executable and its version. An empty version means the newest: its number
// is asked for first, since a plain install may give an older one.
func InstallClient(ctx context.Context, version string) (executable, installed string, err error) {
	if _, err := exec.LookPath("npm"); err != nil {
		return "", "", fmt.Errorf("find npm: %w: the end-to-end tests drive the real client; install Node.js with npm", err)
	}
	if version == "" {
		if version, err = npm(ctx, "", "view", clientPackage, "version"); err != nil {
			return "", "", err
		}
	}
	dir, err := cacheFolder(version)
	if err != nil {
		return "", "", err
	}
	if executable, err = findClient(ctx, dir, version); err == nil {
		return executable, version, nil
	}
	if _, err := npm(ctx, dir, "install", "--prefix", dir, "--no-audit", "--no-fund", clientPackage+"@"+version); err != nil {
		return "", "", err
	}
	executable, err = findClient(ctx, dir, version)
	return executable, version, err
}

func cacheFolder(version string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	dir := filepath.Join(base, "reviewer-e2e", version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	return dir, nil
}

func npm(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("run npm %s: %w\n%s", args[0], err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// findClient looks for an executable that answers with the wanted version. The
// package's own entry is put in place by an install script, which npm may be
// told not to run; then the platform's package still has the program.
func findClient(ctx context.Context, dir, version string) (string, error) {
	modules := filepath.Join(dir, "node_modules")
	candidates := []string{filepath.Join(modules, ".bin", "claude")}
	more, err := filepath.Glob(filepath.Join(modules, clientPackage+"-*", "claude"))
	if err != nil {
		return "", fmt.Errorf("find the client: %w", err)
	}
	for _, path := range append(candidates, more...) {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err == nil && strings.HasPrefix(string(out), version) {
			return path, nil
		}
	}
	return "", fmt.Errorf("find the client %s in %s: no executable there answers --version", version, modules)
}

// A Client runs the real agent once, headless, in folders of its own.
type Client struct {
	Wrap       []string // a command that runs the client, if any
	Executable string
	Home       string   // HOME of the agent
	Project    string   // where it starts
	Args       []string // further flags, such as those of Bypass
	Env        []string // further NAME=value, later ones win
	Limit      time.Duration
	BeforeStep func(step int) // see Model.BeforeStep
	FirstStep  int            // see Model.FirstStep
}

// Bypass are the flags of the mode that asks the person nothing.
func Bypass() []string { return []string{"--dangerously-skip-permissions"} }

// A Run is what came out of one run of the client.
type Run struct {
	Lines    []StreamLine
	Requests []Request
	Exit     int
	Stderr   string
}

// A StreamLine is one line of the client's stream-json output, in the part that
// tests look at; Raw is all of it.
type StreamLine struct {
	Type           string   `json:"type"`
	Subtype        string   `json:"subtype"`
	SessionID      string   `json:"session_id"`
	Version        string   `json:"claude_code_version"`
	Tools          []string `json:"tools"`
	Result         string   `json:"result"`
	IsError        bool     `json:"is_error"`
	TerminalReason string   `json:"terminal_reason"`
	Raw            json.RawMessage
}

// Run gives the client a prompt and a scripted model, and waits for its end.
// Standard input is closed. A run over the limit is an error, not a result.
func (c Client) Run(ctx context.Context, prompt string, script Script) (Run, error) {
	model, err := StartModel(script)
	if err != nil {
		return Run{}, err
	}
	defer model.Close()
	model.BeforeStep, model.FirstStep = c.BeforeStep, c.FirstStep
	ctx, cancel := context.WithTimeout(ctx, c.Limit)
	defer cancel()
	cmd := c.command(ctx, prompt, model.URL())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	requests, readErr := model.Requests()
	run := Run{Requests: requests, Exit: cmd.ProcessState.ExitCode(), Stderr: stderr.String()}
	if readErr != nil {
		return run, readErr
	}
	if ctx.Err() != nil {
		return run, fmt.Errorf("run the client: not finished after %s\n%s", c.Limit, run.Stderr)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return run, fmt.Errorf("run the client: %w", err)
	}
	run.Lines, err = parseStream(stdout.Bytes())
	return run, err
}

func (c Client) command(ctx context.Context, prompt, url string) *exec.Cmd {
	line := append(slices.Clone(c.Wrap), c.Executable, "-p", prompt, "--output-format", "stream-json", "--verbose")
	line = append(line, c.Args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = c.Project
	cmd.Env = append(c.environment(url), c.Env...)
	cmd.WaitDelay = 10 * time.Second // background children may hold the pipes
	return cmd
}

// environment is built from nothing: what the person who runs the tests has
// set for their own agent must not reach this one. Go's caches are passed so
// that a scripted "go test" does not compile the standard library again.
func (c Client) environment(url string) []string {
	env := []string{
		"HOME=" + c.Home, "PWD=" + c.Project, "SHELL=/bin/bash", "LANG=C.UTF-8", "TZ=UTC",
		"ANTHROPIC_API_KEY=scripted", "ANTHROPIC_BASE_URL=" + url,
		"IS_SANDBOX=1", // root may not bypass permissions otherwise
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local",
	}
	for _, name := range []string{"PATH", "TMPDIR", "GOCACHE", "GOMODCACHE"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func parseStream(data []byte) ([]StreamLine, error) {
	var lines []StreamLine
	for _, raw := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		line := StreamLine{Raw: raw}
		if err := json.Unmarshal(raw, &line); err != nil {
			return lines, fmt.Errorf("read the client's output %.80q: %w", raw, err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// Result is the client's last word, or an empty line when it had none.
func (r Run) Result() StreamLine {
	for i := len(r.Lines) - 1; i >= 0; i-- {
		if r.Lines[i].Type == "result" {
			return r.Lines[i]
		}
	}
	return StreamLine{}
}

// Init is the client's first word: its version, tools and session.
func (r Run) Init() StreamLine {
	for _, line := range r.Lines {
		if line.Type == "system" && line.Subtype == "init" {
			return line
		}
	}
	return StreamLine{}
}
