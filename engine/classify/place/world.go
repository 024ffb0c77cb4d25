package place

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// World describes the machine on which an action would run, as far as it is known. A nil function
// means that nothing is known: facts about files (exists, entry, git, links) are then
// absent. Transcripts are classified that way.
type World struct {
	System   string   // Windows, MacOS, or another name of runtime.GOOS; empty: unknown, the session's folders show it
	Home     string   // the person's home directory, absolute; empty: unknown
	Homes    []string // directories whose children are home directories; empty: the usual ones
	TempDirs []string // directories for temporary files, besides the usual ones
	Programs []string // those of Guard that are programs
	Guard    []string // files and directories of reviewer itself: state, policy, keys, binary
	State    string   // reviewer's state folder; empty: unknown, the usual one
	Ports    []int    // ports of reviewer's HTTP API on this machine, besides the usual one
	Path     []string // directories in which programs are looked for; nil: unknown
	Trees    []string // other working trees of the workspace's repository, if the disk is not read

	Lstat    func(name string) (fs.FileInfo, error)
	Readlink func(name string) (string, error)
	ReadDir  func(name string, limit int) ([]fs.DirEntry, error) // at most limit entries, in any order
	ReadFile func(name string, limit int64) ([]byte, error)      // an error where the file is longer
	ReadHead func(name string, limit int64) ([]byte, error)      // the beginning, at most limit bytes; nil: code that is in files is not examined
	// Long returns a path with all short names of Windows in full; nil: short names stay.
	Long func(name string) (string, error)
	// Same reports whether two names refer to the same file; nil: os.SameFile.
	Same func(a, b fs.FileInfo) bool
	// Started reports whether a call of the client that sent the event started a process; nil: unknown.
	Started func(pid int) bool
	// Git returns a view for one action, which returns the state of a file or directory:
	// clean, dirty, untracked, ignored; empty: unknown.
	Git func() func(name string) string

	// Added returns when version control stored the contents of a clean file, in Unix
	// milliseconds; 0: unknown, or so long ago that it was packed.
	Added func(name string) int64
	// Unsaved returns what a command that discards changes at or under a path would lose:
	// clean if nothing, else the state of what would be lost; empty: unknown.
	Unsaved func(name string, what abstract.Discard) string
}

// LocalWorld returns the world of this machine. tempDir is $TMPDIR or empty. Git state is
// read from the files of repositories; git itself never runs, because the configuration of
// a hostile repository names commands that it would run.
func LocalWorld(home, tempDir string, guard []string) World {
	w := World{
		System:   runtime.GOOS,
		Home:     filepath.ToSlash(home),
		Guard:    guard,
		Long:     osfile.LongName,
		Lstat:    os.Lstat,
		Readlink: os.Readlink,
		ReadDir:  readNames,
		ReadFile: readFile,
		ReadHead: readHead,
	}
	if filepath.IsAbs(tempDir) {
		w.TempDirs = []string{tempDir}
	}
	w.Git, w.Unsaved, w.Added = w.gitView, w.unsaved, w.added
	return w
}

func readNames(name string, limit int) ([]fs.DirEntry, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// ErrTooLong means that a file exceeds the size that the reader accepts.
var ErrTooLong = errors.New("file is too long")

func readFile(name string, limit int64) ([]byte, error) {
	b, err := readHead(name, limit+1)
	if err == nil && int64(len(b)) > limit {
		return nil, ErrTooLong
	}
	return b, err
}

func readHead(name string, limit int64) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrInvalid // a pipe or device would block or never end
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// usualTemps contain temporary files on every machine of their kind.
var usualTemps = []string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm"}

// usualHomes contain home directories.
var usualHomes = []string{"/home", "/Users", "/export/home", "/var/home"}

func (w World) homes() []string {
	if len(w.Homes) > 0 {
		return w.Homes
	}
	return usualHomes
}

// HomeOf returns the home directory that contains a folder of a recorded session, by the
// usual places; empty: none.
func HomeOf(dir string) string {
	if dir = Slashes(dir); Drive(dir) {
		return profileOf(WindowsClean(dir))
	}
	for _, homes := range []string{"/home/", "/Users/"} {
		if rest, ok := strings.CutPrefix(dir, homes); ok {
			name, _, _ := strings.Cut(rest, "/")
			return homes + name
		}
	}
	if dir == "/root" || strings.HasPrefix(dir, "/root/") {
		return "/root"
	}
	return ""
}

// profileOf returns the home directory on a drive that contains a path; empty: none.
func profileOf(p string) string {
	parts := strings.SplitN(p, "/", 4) // C:, Users, the name
	if len(parts) < 3 || !strings.EqualFold(parts[1], "users") {
		return ""
	}
	return strings.Join(parts[:3], "/")
}

// onMachine reports whether a place is on this machine: a container, not a host.
func onMachine(host string) bool {
	for part := range strings.SplitSeq(host, "/") {
		if kind, _, _ := strings.Cut(part, ":"); !slices.Contains([]string{"container", "vm", "volume", "device", "wsl"}, kind) {
			return false
		}
	}
	return true
}
