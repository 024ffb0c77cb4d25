package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// grepTool is grep [-q] EXPRESSION [FILE], and grep -rl EXPRESSION DIR, which prints the
// names of files.
func grepTool(args []string, in io.Reader, out io.Writer) int {
	options, words := dashesOf(args)
	if strings.Contains(strings.Join(options, ""), "r") {
		return grepFolder(words[0], words[1], out)
	}
	b, err := io.ReadAll(in)
	if len(words) > 1 {
		b, err = os.ReadFile(words[1])
	}
	if err != nil || !matchesLine(words[0], string(b)) {
		return 1
	}
	return 0
}

func grepFolder(expression, dir string, out io.Writer) int {
	status := 1
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err == nil && matchesLine(expression, string(b)) {
			fmt.Fprintln(out, filepath.ToSlash(name))
			status = 0
		}
		return err
	})
	return max(status, failed(err))
}

// lsTool is ls [DIR] and ls -d NAME….
func lsTool(args []string, _ io.Reader, out io.Writer) int {
	if len(args) > 0 && args[0] == "-d" {
		for _, name := range args[1:] {
			fmt.Fprintln(out, filepath.ToSlash(name))
		}
		return 0
	}
	list, err := os.ReadDir(strings.Join(append(args, "."), "/"))
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), ".") {
			fmt.Fprintln(out, e.Name())
		}
	}
	return failed(err)
}

// sleepTool is sleep SECONDS.
func sleepTool(args []string, _ io.Reader, _ io.Writer) int {
	seconds, err := strconv.ParseFloat(args[0], 64)
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	return failed(err)
}

// headTool is head -n LINES [FILE], head -LINES [FILE] and head -c BYTES [FILE].
func headTool(args []string, in io.Reader, out io.Writer) int {
	if lines := args[0][1:]; strings.Trim(lines, "0123456789") == "" {
		args = append([]string{"-n", lines}, args[1:]...)
	}
	n, err := strconv.Atoi(args[1])
	if failed(err) != 0 {
		return 1
	}
	b, err := inputOf(args[2:], in)
	if args[0] == "-n" {
		lines := bytes.SplitAfter(b, []byte("\n"))
		b = bytes.Join(lines[:min(n, len(lines))], nil)
	} else {
		b = b[:min(n, len(b))]
	}
	out.Write(b)
	return failed(err)
}

func inputOf(names []string, in io.Reader) ([]byte, error) {
	if len(names) == 0 {
		return io.ReadAll(in)
	}
	return os.ReadFile(names[0])
}

// sortTool is sort [FILE], in the order of bytes.
func sortTool(args []string, in io.Reader, out io.Writer) int {
	b, err := inputOf(args, in)
	lines := slices.Collect(strings.Lines(string(b)))
	slices.Sort(lines)
	io.WriteString(out, strings.Join(lines, ""))
	return failed(err)
}

// sedTool is sed [-i] 's/EXPRESSION/TEXT/[g]; …' [FILE…].
func sedTool(args []string, in io.Reader, out io.Writer) int {
	if args[0] == "-i" {
		return inPlace(args[1], args[2:])
	}
	b, err := inputOf(args[1:], in)
	if failed(err) != 0 {
		return 1
	}
	lines := strings.SplitAfter(string(b), "\n")
	for command := range strings.SplitSeq(args[0], ";") {
		parts := strings.Split(strings.TrimSpace(command), "/")
		if len(parts) != 4 || parts[0] != "s" {
			return failed(fmt.Errorf("sed: only s/A/B/ is known here, not %s", command))
		}
		re, err := regexp.Compile(parts[1])
		if failed(err) != 0 {
			return 1
		}
		text := strings.NewReplacer("$", "$$", "&", "${0}", `\r`, "\r").Replace(parts[2])
		for i, line := range lines {
			lines[i] = substituted(re, line, text, parts[3] == "g")
		}
	}
	io.WriteString(out, strings.Join(lines, ""))
	return 0
}

// inPlace runs a script of sed on files.
func inPlace(script string, names []string) int {
	for _, name := range names {
		var changed bytes.Buffer
		if status := sedTool([]string{script, name}, nil, &changed); status != 0 {
			return status
		}
		if failed(os.WriteFile(name, changed.Bytes(), 0o600)) != 0 {
			return 1
		}
	}
	return 0
}

// substituted replaces the first match in a line, or all, leaving its line feed alone.
func substituted(re *regexp.Regexp, line, text string, all bool) string {
	body, ended := strings.CutSuffix(line, "\n")
	if line == "" {
		return line
	}
	done := false
	body = re.ReplaceAllStringFunc(body, func(match string) string {
		if done && !all {
			return match
		}
		done = true
		return string(re.ExpandString(nil, text, match, re.FindStringSubmatchIndex(match)))
	})
	if ended {
		body += "\n"
	}
	return body
}

// tarTool is tar -tzf FILE, tar -xzOf FILE NAME, and tar [-C DIR] -c[z]f FILE .
func tarTool(args []string, _ io.Reader, out io.Writer) int {
	dir := "."
	if args[0] == "-C" {
		dir, args = args[1], args[2:]
	}
	if strings.Contains(args[0], "c") {
		return failed(packFolder(dir, args[1], strings.Contains(args[0], "z")))
	}
	f, err := os.Open(args[1])
	if failed(err) != 0 {
		return 1
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if failed(err) != 0 {
		return 1
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return 0
		}
		if failed(err) != 0 {
			return 1
		}
		switch {
		case strings.Contains(args[0], "t"):
			fmt.Fprintln(out, h.Name)
		case h.Name == args[2]:
			_, err = io.Copy(out, r)
			return failed(err)
		}
	}
}

func packFolder(dir, file string, zipped bool) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	var to io.WriteCloser = f
	if zipped {
		to = gzip.NewWriter(f)
	}
	w := tar.NewWriter(to)
	err = w.AddFS(os.DirFS(dir))
	err = errors.Join(err, w.Close())
	if zipped {
		err = errors.Join(err, to.Close())
	}
	return errors.Join(err, f.Close())
}
