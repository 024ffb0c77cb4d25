package main

import (
	"bytes"
	"crypto/sha512"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// The source. The digest is npm's; a package with another digest is refused.
const (
	sourceName    = "@withfig/autocomplete"
	sourceVersion = "2.692.3"
	sourceLicence = "MIT, Copyright (c) 2021 Hercules Labs Inc. (Fig)"
	sourceDigest  = "sha512-zxN7K8W+qWGc2ejWksd92xwAyCZ0faHvnk3c7jUoWkkk5e5iQf3/4mOLheFvYLoUWR5a36571VJ1DdyxmAWJZA=="
)

//go:embed convert.mjs
var converter []byte

// fetch downloads the package into a folder and returns where it is unpacked.
func fetch(dir string) (string, error) {
	if err := command(dir, nil, "npm", "pack", "--silent", "--ignore-scripts", sourceName+"@"+sourceVersion); err != nil {
		return "", err
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return "", fmt.Errorf("npm pack wrote %d archives; want one (%v)", len(archives), err)
	}
	if err := checkDigest(archives[0]); err != nil {
		return "", err
	}
	return filepath.Join(dir, "package"), command(dir, nil, "tar", "-xzf", archives[0])
}

func checkDigest(archive string) error {
	b, err := os.ReadFile(archive)
	if err != nil {
		return err
	}
	sum := sha512.Sum512(b)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); got != sourceDigest {
		return fmt.Errorf("%s %s differs from the package taken before:\ngot  %s\nwant %s", sourceName, sourceVersion, got, sourceDigest)
	}
	return nil
}

// source is what convert.mjs printed.
type source struct {
	programs []*fact
	leftOut  map[string][]string // by reason: where
}

// convert evaluates the specs. They are third-party code: Node's permissions prevent
// them from writing files and running programs.
func convert(pkg string) (*source, error) {
	path := filepath.Join(filepath.Dir(pkg), "convert.mjs")
	if err := os.WriteFile(path, converter, 0o600); err != nil {
		return nil, err
	}
	permission := "--permission"
	if command(pkg, nil, "node", permission, "--eval", "0") != nil {
		permission = "--experimental-permission" // Node before 22.13
	}
	var out bytes.Buffer
	read := "--allow-fs-read=" + filepath.Join(filepath.Dir(pkg), "*")
	if err := command(pkg, &out, "node", "--no-warnings", permission, read, path, pkg); err != nil {
		return nil, err
	}
	return decode(&out)
}

func decode(r io.Reader) (*source, error) {
	s := &source{}
	for d := json.NewDecoder(r); ; {
		var line struct {
			fact
			LeftOut map[string][]string
		}
		err := d.Decode(&line)
		switch {
		case errors.Is(err, io.EOF) && s.leftOut == nil:
			return nil, errors.New("convert.mjs stopped early")
		case errors.Is(err, io.EOF):
			return s, nil
		case err != nil:
			return nil, fmt.Errorf("read what convert.mjs printed: %w", err)
		case line.LeftOut != nil:
			s.leftOut = line.LeftOut
		default:
			s.programs = append(s.programs, &line.fact)
		}
	}
}

// command runs a program in a folder; its output is in the error.
func command(dir string, out io.Writer, name string, args ...string) error {
	var said bytes.Buffer
	c := exec.Command(name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, out, &said
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}
