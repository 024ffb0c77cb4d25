// Package subprocess runs other programs with limits on time and output, and reads folders of a
// git revision.
//
// Out of scope: what is in these folders.
package subprocess

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
)

// Limits of the output of git.
const (
	maxGitTime  = time.Minute
	maxGitFiles = 10_000
	maxGitBytes = 64 << 20 // bytes of all files, and of a list of them
	maxGitFile  = 1 << 20  // as of any file of a policy
)

// GitTree reads a folder of a revision, REV:PATH: from the top of the repository
// of the working directory, or from there with ./ before it.
func GitTree(ctx context.Context, ref string) (fs.FS, error) {
	rev, folder, ok := strings.Cut(ref, ":")
	if err := refusedRev(rev); !ok || err != nil {
		return nil, errors.Join(err, errors.New("expected git:REV:PATH, such as git:main:policy"))
	}
	ctx, cancel := context.WithTimeout(ctx, maxGitTime)
	defer cancel()
	commit, err := gitObject(ctx, rev+"^{tree}")
	if err != nil {
		return nil, fmt.Errorf("unknown git revision %q: %w", rev, err)
	}
	tree, err := gitObject(ctx, commit+":"+strings.TrimSuffix(folder, "/"))
	if err != nil {
		return nil, fmt.Errorf("there is no %q in revision %s; paths start at the top of the repository, or here with ./ "+
			"before it: %w", folder, rev, err)
	}
	list, err := runGit(ctx, nil, "ls-tree", "-r", "-z", "-l", "--full-tree", tree)
	if err != nil {
		return nil, fmt.Errorf("%q in revision %s is not a folder: %w", folder, rev, err)
	}
	entries, err := gitEntries(list)
	if err != nil {
		return nil, err
	}
	return gitFiles(ctx, entries)
}

// refusedRev explains why a revision is not passed to git; nil: it is valid.
func refusedRev(rev string) error {
	switch {
	case rev == "":
		return errors.New("the revision is missing")
	case strings.HasPrefix(rev, "-"):
		return fmt.Errorf("%q is not a revision: it begins with a dash", rev)
	case strings.ContainsFunc(rev, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("%q is not a revision: it contains spaces or control characters", rev)
	}
	return nil
}

// gitObject returns the id of the object that a name refers to.
func gitObject(ctx context.Context, name string) (string, error) {
	out, err := runGit(ctx, nil, "rev-parse", "--verify", "--end-of-options", name)
	return strings.TrimSpace(string(out)), err
}

// runGit runs git without a shell, so that it starts no other program and
// contacts no other machine. The error is git's own first line.
func runGit(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	fixed := []string{"--no-pager", "--no-replace-objects", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c",
		"core.hooksPath=" + os.DevNull}
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0")
	cmd.Stdin = stdin
	cmd.WaitDelay = time.Second
	out, wrong := &Bounded{Left: maxGitBytes + maxGitFiles*100}, &Bounded{Left: 4096}
	cmd.Stdout, cmd.Stderr = out, wrong
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("git is not installed, or not on PATH; name a folder or an archive instead")
	case ctx.Err() != nil:
		return nil, fmt.Errorf("git took too long or was interrupted: %w", ctx.Err())
	case out.Over:
		return nil, fmt.Errorf("git printed more than %d MB; name the policy's own folder", maxGitBytes>>20)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimPrefix(wrong.String(), "fatal: "), "\n")
		return nil, fmt.Errorf("git reports: %s (%w)", first, err)
	}
	return out.Bytes(), nil
}

// Bounded keeps the beginning of the data written to it. The buffer is not embedded,
// because its ReadFrom would ignore the limit.
type Bounded struct {
	kept bytes.Buffer
	Left int
	Over bool
}

// Bytes returns the bytes that were kept.
func (b *Bounded) Bytes() []byte { return b.kept.Bytes() }

// String returns the text that was kept.
func (b *Bounded) String() string { return b.kept.String() }

// Write implements io.Writer, and fails at the bound.
func (b *Bounded) Write(p []byte) (int, error) {
	if len(p) > b.Left {
		b.Over = true
		p = p[:b.Left]
	}
	b.Left -= len(p)
	n, err := b.kept.Write(p)
	if b.Over && err == nil {
		err = io.ErrShortWrite
	}
	return n, err
}

// gitEntry is a file of a tree.
type gitEntry struct{ id, name string }

// gitEntries reads what ls-tree lists: MODE TYPE ID SIZE\tNAME\0.
func gitEntries(list []byte) ([]gitEntry, error) {
	var entries []gitEntry
	total := 0
	for row := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if row == "" {
			continue
		}
		facts, name, _ := strings.Cut(row, "\t")
		f := strings.Fields(facts)
		if len(f) != 4 {
			return nil, fmt.Errorf("git lists %.100q, which cannot be parsed", row)
		}
		if err := refusedEntry(f[0], name); err != nil {
			return nil, err
		}
		size, err := strconv.Atoi(f[3])
		if total += size; err != nil || size > maxGitFile || total > maxGitBytes {
			return nil, fmt.Errorf("%s has %s bytes: a policy file may have at most %d, all together %d", name, f[3], maxGitFile, maxGitBytes)
		}
		if entries = append(entries, gitEntry{f[2], name}); len(entries) > maxGitFiles {
			return nil, fmt.Errorf("there are more than %d files; name the policy's own folder", maxGitFiles)
		}
	}
	return entries, nil
}

// refusedEntry refuses what is not a regular file.
func refusedEntry(mode, name string) error {
	switch {
	case mode == "120000":
		return fmt.Errorf("%s is a symbolic link, whose target is not in the revision: put the file itself there", name)
	case mode == "160000":
		return fmt.Errorf("%s is a submodule, whose files are in another repository; put them there, or name a folder on this disk", name)
	case !strings.HasPrefix(mode, "100"):
		return fmt.Errorf("%s is not a regular file (mode %s)", name, mode)
	case !fs.ValidPath(name):
		return fmt.Errorf("%q is not a portable path", name)
	}
	return nil
}

// gitFiles reads the contents of files.
func gitFiles(ctx context.Context, entries []gitEntry) (fs.FS, error) {
	var ids strings.Builder
	for _, e := range entries {
		ids.WriteString(e.id + "\n")
	}
	out, err := runGit(ctx, strings.NewReader(ids.String()), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	files := bundles.Memory{}
	in := bufio.NewReader(bytes.NewReader(out))
	for _, e := range entries {
		content, err := gitContent(in)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read from git: %w", e.name, err)
		}
		if _, twice := files[e.name]; twice {
			return nil, fmt.Errorf("%s appears twice in the revision; the repository is damaged", e.name)
		}
		files[e.name] = content
	}
	return files, files.Check()
}

// gitContent reads one answer of cat-file: ID blob SIZE, the bytes, a line end.
func gitContent(in *bufio.Reader) ([]byte, error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	f := strings.Fields(head)
	if len(f) != 3 || f[1] != "blob" {
		return nil, fmt.Errorf("git reports: %.100q", strings.TrimSpace(head))
	}
	size, err := strconv.Atoi(f[2])
	if err != nil || size > maxGitFile {
		return nil, fmt.Errorf("%s bytes, at most %d", f[2], maxGitFile)
	}
	content := make([]byte, size+1)
	if _, err := io.ReadFull(in, content); err != nil {
		return nil, err
	}
	return content[:size], nil
}
