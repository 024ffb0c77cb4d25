package programs

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// filePrograms are the programs that change files.
func filePrograms(name string) shell.Program {
	switch name {
	case "cp", "gcp", "install", "ginstall", "ditto":
		return shell.Program{Values: copyValues + copyMode(name), Run: copyFiles}
	}
	is, _ := rowOf(fileTable, name)
	return is
}

var fileTable = []row[shell.Program]{
	{[]string{"rm", "grm", "srm", "wipe", "rimraf", "del-cli"}, shell.Program{Run: remove}},
	{[]string{"trash", "trash-put", "trash-cli", "rmtrash", "gio"}, shell.Program{Run: moveToTrash}},
	{[]string{"rmdir", "unlink"}, shell.Program{Run: removeOne}},
	{[]string{"trash-empty", "trash-rm"}, shell.Program{Values: " --trash-dir ", Run: emptyTrash}},
	{[]string{"shred"}, shell.Program{Values: " -n -s --iterations --size --random-source ", Run: shred}},
	{[]string{"truncate", "gtruncate"}, shell.Program{Values: " -s -r --size --reference ", Run: truncate}},
	{[]string{"mv", "gmv"}, shell.Program{Values: copyValues, Run: move}},
	{[]string{"ln", "gln"}, shell.Program{Values: copyValues, Run: link}},
	{[]string{"tee", "sponge"}, shell.Program{Run: tee}},
	{[]string{"dd", "gdd"}, shell.Program{Run: convert}},
	{[]string{"mkdir", "touch", "mkfifo", "mknod"}, shell.Program{Values: " -m -t -d -r -Z --mode --date --reference ", Run: create}},
	{[]string{"chmod", "gchmod", "chown", "gchown", "chgrp", "chattr", "setfacl", "setcap", "chflags", "xattr"}, shell.Program{Values: " -m -x --reference --from -M -X --modify --remove --set --set-file ", Run: permit}},
	{[]string{"sed", "gsed"}, shell.Program{Values: " -e -f -l --expression --file --line-length ", Run: languages.Sed}},
	{[]string{"awk", "gawk", "mawk", "nawk"}, shell.Program{First: true, Values: " -f -F -v -i --file --field-separator --assign --include -e --source ", Run: languages.Awk}},
	{[]string{"rsync"}, shell.Program{Values: rsyncValues, Run: rsync}},
	{[]string{"tar", "bsdtar", "gtar"}, shell.Program{Values: tarValues, Run: tar}},
	{[]string{"unzip", "7z", "7za", "unrar"}, shell.Program{Values: " -d -x -P ", Run: archive}},
	{[]string{"zip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "compress", "uncompress"}, shell.Program{Values: " -x -i -b -S --suffix --unzip-command ", Run: archive}},
	{[]string{"find", "gfind", "bfind"}, shell.Program{Long: true, Own: true, Literal: true, Run: find}},
	{[]string{"fd", "fdfind"}, shell.Program{Own: true, Run: fd}},
	{[]string{"cpio"}, shell.Program{Values: " -D --directory -F --file -I -O -E --pattern-file -H --format ", Run: cpio}},
	{[]string{"patch"}, shell.Program{Values: " -p -d -i -o -r -B -D -F -V -Y -z --directory --input --output --strip --reject-file ", Run: patch}},
	{[]string{"vi", "vim", "nvim", "ed", "ex", "emacs", "nano"}, shell.Program{Values: " -c -S -u --cmd -T -w ", Run: edit}},
	{[]string{"split", "csplit"}, shell.Program{Values: " -b -l -n -a -C -t -f --filter --bytes --lines --number --suffix-length --prefix --suffix-format --additional-suffix ", Run: splitFile}},
	{[]string{"fallocate"}, shell.Program{Values: " -l -o --length --offset ", Run: allocate}},
	{[]string{"mkfile"}, shell.Program{Run: allocate}},
	{[]string{"yes"}, shell.Program{Run: func(c *shell.Call) { endlessOutput(c) }}},
	{[]string{"stress", "stress-ng"}, shell.Program{Run: func(c *shell.Call) { c.Unbounded("exec", abstract.Word(c.Name)) }}},
}

const (
	copyValues  = " -t -S --target-directory --suffix --backup "
	rsyncValues = " -e -f --rsh --exclude --include --exclude-from --include-from --files-from --filter --rsync-path --password-file --port --bwlimit --timeout --chmod --chown --log-file --partial-dir --temp-dir -T -M --link-dest --compare-dest --copy-dest --backup-dir --suffix --max-size --min-size --info --debug "
	tarValues   = " -f -C -T -X -I -b -g -H -K -L -N -V -s --file --directory --exclude --files-from --exclude-from --use-compress-program --to-command --checkpoint-action --transform --strip-components --owner --group --mode --mtime --newer --format --rsh-command --info-script -F "
)

func copyMode(name string) string {
	if strings.HasSuffix(name, "install") {
		return " -m -o -g --mode --owner --group --strip-program "
	}
	return ""
}

func remove(c *shell.Call) {
	operands := c.Opts.Operands
	recursive := c.Opts.Has("-r", "-R", "--recursive") || c.Name == "rimraf" || c.Name == "del-cli"
	c.Out = abstract.Arg{}
	c.Deletes(recursive, c.Opts.Has("-f", "--force"), operands...)
}

func removeOne(c *shell.Call) { c.Out = abstract.Arg{}; c.Deletes(false, false, c.Opts.Operands...) }

// moveToTrash takes files out of sight: a person can take them back until the
// trash is emptied.
func moveToTrash(c *shell.Call) {
	operands := c.Opts.Operands
	first := c.Opts.Operand(0)
	switch {
	case c.Name == "gio" && !first.Is("trash", "remove"):
		c.Process()
		return
	case c.Opts.Has("--empty"), c.Name == "trash" && first.Is("empty"):
		emptyTrash(c)
		return
	case c.Opts.Has("--list", "-l") || c.Name == "trash" && first.Is("list", "restore"):
		return
	case c.Name == "gio", c.Name == "trash" && first.Is("put") && len(operands) > 1:
		operands, c.Subs = operands[1:], []string{first.Text}
	}
	c.Out = abstract.Arg{}
	if c.Name == "gio" && first.Is("remove") {
		c.Deletes(false, c.Opts.Has("-f", "--force"), operands...)
		return
	}
	c.Removes(abstract.RawEffect{Verb: "trash", Recursive: true, Reversible: engine.R3}, operands...)
}

// emptyTrash loses for good what was moved aside.
func emptyTrash(c *shell.Call) {
	if c.Opts.Has("-n", "--dry-run") {
		c.Signal(engine.SignalDryRun)
		return
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "empty", Reversible: engine.R4}, abstract.Word("trash"))
}

func shred(c *shell.Call) {
	if c.Opts.Has("-u", "--remove") {
		c.Deletes(false, true, c.Opts.Operands...)
	}
	c.WritesAs(abstract.RawEffect{Verb: "truncate", Leaves: 1}, c.Opts.Operands...)
}

// truncate cuts files off, or makes them longer by a hole.
func truncate(c *shell.Call) {
	size, _ := c.Opts.Get("-s", "--size")
	n, known := byteCount(strings.TrimPrefix(size.Text, "+"))
	e := abstract.RawEffect{Verb: "truncate", Bytes: n}
	switch {
	case size.HasPrefix("+"):
		e.Verb = "write"
	case known:
		e.Leaves = n + 1
	}
	c.WritesAs(e, c.Opts.Operands...)
}

// allocate makes files of a size that the call says.
func allocate(c *shell.Call) {
	size, given := c.Opts.Get("-l", "--length")
	files := c.Opts.Operands
	if !given && len(files) > 1 { // mkfile SIZE FILE
		size, files = files[0], files[1:]
	}
	n, _ := byteCount(size.Text)
	c.WritesAs(abstract.RawEffect{Verb: "write", Bytes: n}, files...)
}

// byteCount reads a size such as 512, 10M, 2GiB or 1TB; units that only some
// programs know are powers of 1024 too.
func byteCount(s string) (int64, bool) {
	digits := strings.TrimLeft(s, "0123456789")
	n, err := strconv.ParseInt(s[:len(s)-len(digits)], 10, 64)
	if err != nil {
		return 0, false
	}
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(digits), "b"), "i")
	power := strings.Index("kmgtpe", unit) + 1
	if unit == "" {
		power = 0
	} else if len(unit) > 1 || power == 0 {
		return 0, false
	}
	if n > math.MaxInt64>>(10*power) {
		return math.MaxInt64, true
	}
	return n << (10 * power), true
}

// destination splits the operands of cp, mv and ln into sources and the
// destination; inDir tells that the sources keep their names below it.
func destination(c *shell.Call) (sources []abstract.Arg, dest abstract.Arg, inDir bool) {
	operands := c.Opts.Operands
	if d, ok := c.Opts.Get("-t", "--target-directory"); ok {
		return operands, d, true
	}
	n := len(operands)
	if n < 2 {
		return operands, abstract.Arg{}, false
	}
	dest = operands[n-1]
	sources = operands[:n-1]
	inDir = n > 2 || strings.HasSuffix(dest.Text, "/") || dest.Is(".", "..") || sources[0].Glob
	return sources, dest, inDir && !c.Opts.Has("-T", "--no-target-directory")
}

// maxLandings is how many places are listed one by one; then it is the folder.
const maxLandings = 32

// landing lists where sources end up.
func landing(sources []abstract.Arg, dest abstract.Arg, inDir bool) []abstract.Arg {
	if !inDir {
		return []abstract.Arg{dest}
	}
	var out []abstract.Arg
	for i, src := range sources {
		if i == maxLandings {
			return append(out, dest)
		}
		base, _ := abstract.Arg{Text: strings.TrimSuffix(src.Text, "/")}.Base()
		if base == "" || base == "." || base == ".." || src.From != nil {
			base = abstract.HoleText
		}
		t := dest.With(strings.TrimSuffix(dest.Text, "/") + "/" + base)
		t.Glob = dest.Glob || src.Glob
		out = append(out, t)
	}
	return out
}

// move is mv. What goes elsewhere is gone from where it was; what stays in its
// directory or below the present one has a new name.
func move(c *shell.Call) {
	sources, dest, inDir := destination(c)
	forced := c.Opts.Has("-f", "--force")
	if c.Opts.Has("-n", "--no-clobber") {
		forced = false
	}
	for _, src := range sources {
		e := abstract.RawEffect{Kind: engine.EffectFileDelete, Verb: "move", Recursive: true, Forced: forced}
		if c.Shell.StaysNear(src, dest) {
			e = abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "move", Forced: forced}
		}
		c.Emit(e, src)
	}
	if dest.Text == "" {
		return
	}
	for _, t := range landing(sources, dest, inDir) {
		c.Writes("write", t)
	}
	for _, t := range landing(sources, dest, inDir) {
		if text, ok := c.Shell.Written(sources[0]); ok {
			c.Shell.Store(t, text, false)
		}
	}
}

func copyFiles(c *shell.Call) {
	if strings.HasSuffix(c.Name, "install") && c.Opts.Has("-d", "--directory") {
		c.Writes("create", c.Opts.Operands...)
		return
	}
	sources, dest, inDir := destination(c)
	c.Reads(sources...)
	if dest.Text == "" {
		return
	}
	mode, _ := c.Opts.Get("-m", "--mode")
	verb := "write"
	if len(sources) == 1 && sources[0].Is("/dev/null") {
		verb = "truncate"
	}
	if c.Opts.Has("-l", "-s", "--link", "--symbolic-link") && !strings.HasSuffix(c.Name, "install") {
		verb = "link"
	}
	if isRemote(dest) {
		return
	}
	for _, t := range landing(sources, dest, inDir) {
		e := abstract.RawEffect{Verb: verb, Mode: mode.Show()}
		if verb == "truncate" {
			e.Leaves = 1
		}
		c.WritesAs(e, t)
		c.Shell.Copied(sources[0], t)
		if text, ok := c.Shell.Written(sources[0]); ok {
			c.Shell.Store(t, text, false)
		}
	}
}

// link is ln. A symbolic link is remembered: what is done through it happens
// to its target.
func link(c *shell.Call) {
	sources, dest, inDir := destination(c)
	if len(c.Opts.Operands) == 1 {
		base, _ := sources[0].Base()
		dest = abstract.Word(base)
	}
	if !c.Opts.Has("-s", "--symbolic") {
		c.Reads(sources...) // the other name shows the file wherever it is read, and nothing tells by then
	}
	e := abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "link", Forced: c.Opts.Has("-f", "--force")}
	for i, t := range landing(sources, dest, inDir) {
		c.Emit(e, t)
		if i >= len(sources) {
			break
		}
		for _, dir := range c.Shell.Scope.Dirs {
			at := abstract.JoinDir(dir, t)
			from := abstract.Value{Sure: abstract.Literal, Text: path.Dir(at.Text)}
			if !c.Opts.Has("-s", "--symbolic") {
				from = dir
			}
			if at.Sure == abstract.Literal && len(c.Shell.Links) < 256 {
				c.Shell.Links[at.Text] = abstract.JoinDir(from, sources[i])
				c.Shell.Copied(sources[i], at.Arg())
			}
		}
	}
}

func tee(c *shell.Call) {
	verb := "write"
	if c.Opts.Has("-a", "--append") {
		verb = "append"
	}
	if in := c.Shell.Frame.Stdin; in != nil {
		c.Out = *in
		for _, t := range c.Opts.Operands {
			c.Shell.Store(t, *in, verb == "append")
		}
	}
	for _, t := range c.Opts.Operands {
		if t.HasPrefix("/dev/tcp/") {
			c.Sends("send", t)
		}
	}
	c.Writes(verb, c.Opts.Operands...)
}

// convert is dd.
func convert(c *shell.Call) {
	endless, counted := false, false
	block, count := int64(512), int64(0)
	c.Opts.Operands = nil
	for _, a := range c.Args {
		key, v, _ := strings.Cut(a.Text, "=")
		switch key {
		case "if":
			c.Reads(a.With(v))
			endless = v == "/dev/zero" || v == "/dev/urandom" || v == "/dev/random"
			if strings.HasPrefix(v, "/dev/") && !shell.HarmlessDevice(abstract.Word(v)) {
				c.Out = abstract.UnknownArg()
			}
		case "bs":
			block, _ = byteCount(v)
		case "of":
			if in := c.Shell.Frame.Stdin; in != nil {
				c.Shell.Store(a.With(v), *in, false)
			}
		case "count":
			counted = true
			count, _ = byteCount(v)
		}
	}
	for _, a := range c.Args {
		if a.HasPrefix("of=") {
			c.WritesAs(abstract.RawEffect{Verb: "write", Bytes: product(block, count)}, a.With(a.Text[3:]))
		}
	}
	if endless && !counted {
		for _, a := range c.Args {
			if a.HasPrefix("of=") {
				c.Unbounded("write", a.With(a.Text[3:]))
			}
		}
	}
}

// product multiplies sizes, as far as they can be told.
func product(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

func create(c *shell.Call) {
	c.Out = abstract.Arg{}
	operands := c.Opts.Operands
	if c.Name == "mknod" && len(operands) > 0 {
		operands = operands[:1]
	}
	c.WritesAs(abstract.RawEffect{Verb: "create", Parents: c.Name == "mkdir" && c.Opts.Has("-p", "--parents")}, operands...)
	if c.Name == "mkfifo" {
		for _, t := range operands {
			c.Shell.Store(t, abstract.UnknownArg(), false) // what is written there later is read
		}
	}
}

// permit is chmod, chown and their like.
func permit(c *shell.Call) {
	recursive := c.Opts.Has("-R", "--recursive") || c.Name == "xattr" && c.Opts.Has("-r")
	verb := "chmod"
	if strings.HasSuffix(c.Name, "chown") || c.Name == "chgrp" {
		verb = "chown"
	}
	operands := c.Opts.Operands
	skipsFirst := !c.Opts.Has("--reference", "-m", "-x", "--modify", "--set", "-b", "-k") ||
		strings.HasSuffix(c.Name, "chmod") && !c.Opts.Has("--reference")
	if c.Name == "chmod" {
		operands = chmodOperands(c.Args)
	}
	mode := abstract.Arg{}
	if skipsFirst && len(operands) > 0 {
		mode, operands = operands[0], operands[1:]
	}
	given := ""
	if strings.HasSuffix(c.Name, "chmod") || c.Name == "setcap" {
		given = mode.Show()
	}
	if verb == "chmod" && !recursive && closes(mode.Text) {
		verb = "restrict"
	}
	c.Out = abstract.Arg{}
	for _, t := range operands {
		c.Shell.DiskWrite(t)
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: verb, Mode: given, Recursive: recursive, Forced: c.Opts.Has("-f", "--force")}, t)
	}
}

// endlessOutput notes output without end that no other command cuts off.
func endlessOutput(c *shell.Call) {
	if !c.Shell.Frame.Feeds {
		c.Unbounded("write", abstract.Word(c.Name))
	}
}

// chmodOperands takes "-w" and its like for the mode that it is.
func chmodOperands(args []abstract.Arg) []abstract.Arg {
	var out []abstract.Arg
	for _, a := range args {
		if a.HasPrefix("-") && strings.Trim(a.Text, "-rwxXst") == "" && len(a.Text) > 1 && !a.HasPrefix("--") || !a.HasPrefix("-") {
			out = append(out, a)
		}
	}
	return out
}

// closes says that a mode leaves a file to its owner, who can still read it.
func closes(mode string) bool {
	if strings.Trim(mode, "01234567") == "" {
		mode = strings.TrimPrefix(mode, "0")
		return len(mode) == 3 && mode[0] >= '4' && mode[1:] == "00"
	}
	return slices.Contains([]string{"go-rwx", "go=", "og-rwx", "og=", "u=rw,go=", "u=r,go=", "u=rwx,go="}, mode)
}

func cpio(c *shell.Call) {
	o := c.Opts
	c.Reads(o.All("-F", "--file", "-I")...)
	dirs := o.All("-D", "--directory")
	switch {
	case o.Has("-p", "--pass-through"):
		dirs = o.Operands
	case !o.Has("-i", "--extract") || o.Has("-t", "--list"):
		c.Writes("write", o.All("-O")...)
		return
	case len(dirs) == 0:
		dirs = []abstract.Arg{abstract.Word(".")}
	}
	for _, d := range dirs {
		c.Emit(abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "write", Recursive: true},
			d.With(strings.TrimSuffix(d.Text, "/")+"/"+abstract.HoleText))
	}
}

func patch(c *shell.Call) {
	if c.Opts.Has("--dry-run") {
		c.Signal(engine.SignalDryRun)
		return
	}
	if out, ok := c.Opts.Get("-o", "--output"); ok {
		c.Writes("write", out)
		return
	}
	if len(c.Opts.Operands) > 0 {
		c.Writes("write", c.Opts.Operand(0))
		return
	}
	dir, ok := c.Opts.Get("-d", "--directory")
	if !ok {
		dir = abstract.Word(".")
	}
	input := c.Opts.All("-i", "--input")
	c.Reads(input...)
	if !ok && languages.Patches(c, input) {
		return
	}
	c.Writes("write", abstract.Word(strings.TrimSuffix(dir.Text, "/")+"/"+abstract.HoleText))
}
