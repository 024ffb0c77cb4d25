package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// file is a file of an archive or a package, named by its path with slashes.
type file struct {
	name    string
	mode    int64
	content []byte
}

// build is the result for a target.
type build struct {
	target
	programs []file
	info     *buildinfo.BuildInfo // of the first program
	texts    []file               // LICENSE, README.md, the licences of dependencies
	common   common
}

// common are the files that every target gets.
type common struct {
	completions map[string][]byte
	pages       []file // man pages
}

// shells are those with completions.
func shells() []string { return []string{"bash", "fish", "powershell", "zsh"} }

// output runs a program and returns its trimmed output.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var failed strings.Builder
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(failed.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// buildFlags are the flags of each build. They are part of the provenance.
func (r *release) buildFlags() []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w -X " + module + "/cmd/reviewer/cli.version=v" + r.version}
}

// buildEnv keeps settings of the machine out of the build.
func buildEnv(t target) []string {
	return []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0",
		"GOFIPS140=off"}
}

// compile builds all programs for a target, and collects the texts that come with them.
func (r *release) compile(ctx context.Context, t target) (build, error) {
	b := build{target: t}
	var err error
	if b.texts, err = r.texts(ctx, t); err != nil {
		return b, err
	}
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return b, err
	}
	defer os.RemoveAll(dir)
	for _, p := range programs(t) {
		path := filepath.Join(dir, t.exe(p.name))
		args := slices.Concat([]string{"build"}, r.buildFlags(), []string{"-o", path, p.pkg})
		if _, err := output(ctx, r.root, buildEnv(t), "go", args...); err != nil {
			return b, err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return b, err
		}
		b.programs = append(b.programs, file{t.exe(p.name), 0o755, content})
		if b.info == nil {
			if b.info, err = buildinfo.ReadFile(path); err != nil {
				return b, err
			}
		}
	}
	return b, nil
}

// commonFiles runs a program for this machine, built with the tag manpages, to get its
// completions and man pages.
func (r *release) commonFiles(ctx context.Context) (common, error) {
	var c common
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	host := filepath.Join(dir, "reviewer.exe")
	args := slices.Concat([]string{"build", "-tags=manpages"}, r.buildFlags(), []string{"-o", host, programs(target{})[0].pkg})
	if _, err := output(ctx, r.root, []string{"GOFLAGS=", "CGO_ENABLED=0", "GOOS=", "GOARCH="}, "go", args...); err != nil {
		return c, err
	}
	env := []string{"HOME=" + dir, "USERPROFILE=" + dir, "REVIEWER_HOME=" + dir, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix())}
	c.completions = map[string][]byte{}
	for _, shell := range shells() {
		text, err := output(ctx, dir, env, host, "completion", shell)
		if err != nil {
			return c, err
		}
		c.completions[shell] = []byte(text + "\n")
	}
	pages := filepath.Join(dir, "man1")
	if _, err := output(ctx, dir, env, host, "man", pages); err != nil {
		return c, err
	}
	c.pages, err = readFolder(pages)
	return c, err
}

// readFolder reads the files of a folder, sorted by name.
func readFolder(dir string) ([]file, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range list {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{e.Name(), 0o644, content})
	}
	return files, nil
}
