package runcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/checkpointcmd"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/run/proxy"
	"github.com/agent-reviewer/reviewer/engine/run/sandbox"
	"github.com/agent-reviewer/reviewer/engine/run/tree"
	"github.com/agent-reviewer/reviewer/engine/serve/client"
	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// The profiles of isolation, mildest first.
const (
	profileObserve   = "observe"
	profileWorkspace = "workspace"
	profileStrict    = "strict"
)

func profiles() []string { return []string{profileObserve, profileWorkspace, profileStrict} }

// confinement is what confines a run, and what watches over it; nil: nothing does.
type confinement struct {
	p       *plan
	plan    sandbox.Plan
	box     *sandbox.Confinement
	proxy   *proxy.Proxy
	dry     bool     // nothing is created
	temp    string   // folder for temporary files
	made    []string // folders that are removed if they are still empty
	outside net.Listener
	linked  string // folder of a linked worktree in its repository

	mu    sync.Mutex
	seen  map[string]bool
	queue []observed
	ears  []net.Listener
}

// observed is something that was seen below the hook.
type observed struct {
	what, detail string
	event        run.Event
	host         string // of a connection that was allowed
}

// profileOf returns the profile of a run: the flag may name a stricter one than the settings.
func profileOf(flag, setting string) (string, error) {
	if flag == "" {
		return setting, nil
	}
	rank := slices.Index(profiles(), flag)
	if rank < 0 {
		return "", cli.Usage("--profile %q: expected one of %s", flag, strings.Join(profiles(), ", "))
	}
	if rank < slices.Index(profiles(), setting) {
		return "", cli.Usage("--profile %s: the settings require %s (isolation.profile); a flag can only be stricter", flag, setting)
	}
	return flag, nil
}

// confine prepares the confinement of a run. What the system cannot enforce is an error in
// the strict profile, and a warning in the others.
func confine(p *plan, features sandbox.Features) (*confinement, error) {
	if p.profile == profileObserve {
		return nil, nil
	}
	c := &confinement{p: p, seen: map[string]bool{}}
	removeLeftovers(p.policy.log.Dir)
	switch missing := features.Missing(); {
	case p.profile == profileStrict && len(missing) > 0:
		return nil, errors.New("the strict profile cannot be enforced here, so nothing was started; the system lacks:\n  " +
			strings.Join(missing, "\n  "))
	case features.Landlock == 0:
		return nil, errors.New("without Landlock, only the observe profile works here, so nothing was started")
	case len(missing) > 0 && !p.app.Quiet:
		fmt.Fprintf(p.app.Stderr, "reviewer run: the %s profile is only partly enforced; the system lacks:\n  %s\n", p.profile,
			strings.Join(missing, "\n  "))
	}
	err := c.paths(features)
	if err == nil {
		err = errors.Join(c.network(), resident(p))
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	if err := c.remember(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	// The hooks inside do not start it: their resident process starts nothing for a supervised client.
	checkpointcmd.StartExpire(p.app, p.policy.log, engine.PhaseStart)
	return c, nil
}

// paths fills in the paths of the plan.
func (c *confinement) paths(f sandbox.Features) error {
	s, home := c.p.settings.Isolation, c.p.home
	strict := c.p.profile == profileStrict
	if err := c.makeTemp(); err != nil {
		return err
	}
	state := realPath(c.p.policy.log.Dir)
	c.plan = sandbox.Plan{Exact: strict, Watch: f.Seccomp, Namespaces: f.Namespaces, Read: []string{"/"}, Devices: c.expand(s.Devices),
		Own: c.expand(s.Own)}
	if strict {
		c.plan.Read = c.expand(append(slices.Clone(s.Read), s.AgentRead[c.p.agent]...))
		c.plan.Read = append(append(c.plan.Read, realPath(filepath.Dir(cli.Program()))), c.programs()...)
	}
	c.plan.Hidden = append(c.expand(append(slices.Clone(s.Hidden), c.p.settings.Workspace.Denied...)), state)
	for _, path := range s.Write { // caches cannot be created inside; those that stay empty are removed
		if strings.HasPrefix(path, "~") && home != "/" {
			c.makeBelow(home, c.full(path))
		}
	}
	if err := c.makeFolders(s.AgentWrite[c.p.agent]); err != nil {
		return err
	}
	c.plan.Write = append(c.expand(append(slices.Clone(s.Write), s.AgentWrite[c.p.agent]...)), c.p.changeable()...)
	c.plan.Read = append(append(c.plan.Read, c.p.dir), c.p.beyond...)
	c.worktree()
	if c.temp != "" {
		c.plan.Write = append(c.plan.Write, c.temp)
	}
	if inside(home, c.p.dir) || c.p.dir == "/" {
		return fmt.Errorf("the working directory %s contains your home directory; start the run in a project's folder", c.p.dir)
	}
	if at := c.writable(state); at != "" {
		return fmt.Errorf("the state directory %s is in %s, where the run may write; set --home to another one", state, at)
	}
	c.plan.UnixPaths = []string{c.p.dir, c.temp}
	c.plan.Hooks = filepath.Join(state, wire.RunDir, wire.SocketName)
	c.plan.Proof = client.Proof(c.p.policy.log.Dir)
	if err := errors.Join(c.ownSettings(), c.program()); err != nil || !f.Namespaces || !strict {
		return err
	}
	return c.strictPaths(state)
}

// changeable are the paths of the workspace that may be changed, and those that were declared elsewhere.
func (p *plan) changeable() []string {
	if p.scope != nil {
		return append(slices.Clone(p.scope), p.beyond...)
	}
	return append([]string{p.dir}, p.beyond...)
}

// makeTemp creates the folder for temporary files.
func (c *confinement) makeTemp() (err error) {
	if c.dry {
		return nil
	}
	if c.temp, err = os.MkdirTemp("", "reviewer-run-"); err == nil {
		c.temp, err = filepath.EvalSymlinks(c.temp)
	}
	if err != nil {
		return fmt.Errorf("create a folder for temporary files: %w", err)
	}
	return nil
}

// programs returns the folders of the command, and of what it interprets: with all packages, if it is in one.
func (c *confinement) programs() []string {
	var list []string
	for _, name := range []string{c.p.command[0], scriptOf(c.p.command)} {
		path, err := exec.LookPath(name)
		if err != nil {
			if path, err = filepath.Abs(name); err != nil || name == "" {
				continue
			}
		}
		dir := filepath.Dir(realPath(path))
		if before, _, packaged := strings.Cut(dir, "/node_modules/"); packaged {
			dir = before + "/node_modules"
		}
		if dir != "/" && !inside(c.p.home, dir) {
			list = append(list, dir)
		}
	}
	return list
}

// strictPaths are those that only mounts can change.
func (c *confinement) strictPaths(state string) error {
	s := c.p.settings.Isolation
	for _, path := range c.expand(s.Masked) {
		if inside(c.p.dir, path) || inside(state, path) || c.temp != "" && inside(c.temp, path) {
			return fmt.Errorf("%s would be empty for the run (isolation.masked), but it contains what the run needs", path)
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() && !slices.Contains(c.plan.Masked, path) {
			c.plan.Masked = append(c.plan.Masked, path)
		}
	}
	return c.workspaceSettings()
}

// makeFolders creates the folders that an agent writes to: they cannot be created inside.
func (c *confinement) makeFolders(list []string) error {
	for _, path := range list {
		if !strings.HasSuffix(path, "/") || c.dry {
			continue
		}
		dir := c.full(path)
		if _, err := os.Stat(filepath.Dir(dir)); err != nil && strings.HasPrefix(path, "~") {
			if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
				return fmt.Errorf("create a folder of the agent: %w", err)
			}
		}
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("create a folder of the agent: %w", err)
		}
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is not a folder; move it away", dir)
		}
	}
	return nil
}

// full is a path of the settings.
func (c *confinement) full(path string) string {
	path = strings.ReplaceAll(path, "{uid}", strconv.Itoa(os.Geteuid()))
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		return filepath.Join(c.p.home, rest)
	}
	return filepath.Clean(path)
}

// expand returns the paths of the settings that exist, without links.
func (c *confinement) expand(list []string) []string {
	var out []string
	for _, path := range list {
		if real, err := filepath.EvalSymlinks(c.full(path)); err == nil && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// network prepares the proxy. Without a network of its own, the run reaches it on this machine.
func (c *confinement) network() error {
	s := c.p.settings
	c.proxy = proxy.New(proxy.Rules{Hosts: c.hosts(), Ports: s.Isolation.Ports, Refused: slices.Concat(s.Hosts.Metadata, s.Hosts.Drops),
		Text: s.Isolation.Texts.Refused}, c.connected)
	for _, host := range s.Isolation.Hosts {
		if at, err := netip.ParseAddrPort(host); err == nil && at.Addr().IsLoopback() {
			c.plan.Loopback = append(c.plan.Loopback, host)
		}
	}
	if c.plan.Namespaces {
		c.plan.Proxy = freePort(c.plan.Loopback)
		return nil
	}
	var err error
	if c.outside, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("listen for the run's connections: %w", err)
	}
	c.plan.Proxy = uint16(c.outside.Addr().(*net.TCPAddr).Port)
	go c.proxy.Serve(c.outside)
	return nil
}

// hosts are those to which connections are allowed.
func (c *confinement) hosts() []string {
	s := c.p.settings
	return slices.Concat(s.Isolation.Hosts, s.Hosts.Known, s.Isolation.AgentHosts[c.p.agent])
}

// freePort returns a port of the run's own network that none of some addresses has.
func freePort(taken []string) uint16 {
	port := uint16(3128)
	for slices.ContainsFunc(taken, func(a string) bool { return strings.HasSuffix(a, ":"+strconv.Itoa(int(port))) }) {
		port++
	}
	return port
}

// listening takes the sockets in the run's network.
func (c *confinement) listening(list []net.Listener) {
	c.mu.Lock()
	c.ears = append(c.ears, list...)
	c.mu.Unlock()
	go c.proxy.Serve(list[0])
	for i, l := range list[1:] {
		go c.proxy.Pass(l, c.plan.Loopback[i])
	}
}

// environment is that of the command: it names the proxy, and lacks what refers to other programs.
func (c *confinement) environment(env []string) []string {
	url := "http://127.0.0.1:" + strconv.Itoa(int(c.plan.Proxy))
	const direct = "127.0.0.1,localhost,::1"
	set := []string{"HTTP_PROXY=" + url, "HTTPS_PROXY=" + url, "http_proxy=" + url, "https_proxy=" + url,
		"ALL_PROXY=" + url, "NODE_USE_ENV_PROXY=1",
		"NO_PROXY=" + direct, "no_proxy=" + direct, "TMPDIR=" + c.temp, "TMP=" + c.temp, "TEMP=" + c.temp}
	kept := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		removed := append(slices.Clone(c.p.settings.Isolation.Variables), names(set)...)
		return slices.ContainsFunc(removed, func(pattern string) bool { return fits(name, pattern) })
	})
	return append(kept, set...)
}

func names(env []string) []string {
	var list []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		list = append(list, name)
	}
	return list
}

func fits(name, pattern string) bool {
	ok, err := filepath.Match(pattern, name)
	return err == nil && ok
}

// resident makes sure that the process that answers hooks runs outside: inside, nothing can be recorded.
func resident(p *plan) error {
	why := client.Check(p.policy.log.Dir)
	for begin := time.Now(); why != "" && time.Since(begin) < residentWait; time.Sleep(20 * time.Millisecond) {
		if err := p.startResident(); err != nil {
			return err
		}
		why = client.Check(p.policy.log.Dir)
	}
	if why != "" {
		return fmt.Errorf("the process that answers hooks cannot be reached, so each call would be denied: %s; "+
			"run `reviewer doctor resident`", why)
	}
	return nil
}

// residentWait is how long the start of the resident process may take.
const residentWait = 10 * time.Second

// close removes what the run needed.
func (c *confinement) close() error {
	if c == nil {
		return nil
	}
	if c.box != nil {
		c.box.Close()
	}
	for _, l := range c.ears {
		_ = l.Close() // nobody is left inside
	}
	if c.outside != nil {
		_ = c.outside.Close() // nobody is left inside
	}
	removeMade(c.made)
	c.forget()
	if c.temp == "" {
		return nil
	}
	return os.RemoveAll(c.temp)
}

// leftovers are what a run made, for the next one: if the supervisor is killed, nothing else removes them.
type leftovers struct {
	Process tree.ID  `json:"process"` // the supervisor
	Made    []string `json:"made"`
	Temp    string   `json:"temp"`
}

const leftoversPrefix = "made-"

func (c *confinement) leftoversFile() string {
	return filepath.Join(c.p.policy.log.Dir, wire.RunDir, leftoversPrefix+strconv.Itoa(os.Getpid())+".json")
}

// remember writes down what was made.
func (c *confinement) remember() error {
	if c.dry {
		return nil
	}
	raw, err := json.Marshal(leftovers{tree.Identify(os.Getpid()), c.made, c.temp})
	if err == nil {
		err = os.WriteFile(c.leftoversFile(), raw, 0o600)
	}
	if err != nil {
		return fmt.Errorf("record what the run makes: %w", err)
	}
	return nil
}

func (c *confinement) forget() {
	if !c.dry {
		_ = os.Remove(c.leftoversFile()) // the next run finds it
	}
}

// removeLeftovers removes what runs made whose supervisors do not run any longer.
func removeLeftovers(state string) {
	files, _ := filepath.Glob(filepath.Join(state, wire.RunDir, leftoversPrefix+"*.json")) // the pattern is right
	for _, file := range files {
		var left leftovers
		raw, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(raw, &left) != nil || tree.Identify(int(left.Process.Pid)) == left.Process {
			continue
		}
		tree.KillLeft() // a process of it would find the places without protection
		removeMade(left.Made)
		if left.Temp != "" {
			_ = os.RemoveAll(left.Temp) // what is left is only space
		}
		_ = os.Remove(file) // the next run tries again
	}
}

// removeMade removes folders that are still empty, and files, which the run could not change.
func removeMade(made []string) {
	for _, path := range slices.Backward(made) {
		_ = os.Remove(path) // a folder stays if something is in it
	}
}
