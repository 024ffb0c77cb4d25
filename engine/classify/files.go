package classify

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// filePrograms are the programs that change files.
func filePrograms(name string) program {
	switch name {
	case "rm", "grm", "srm", "wipe", "rimraf", "del-cli":
		return program{run: remove}
	case "trash", "trash-put", "trash-cli", "rmtrash", "gio":
		return program{run: moveToTrash}
	case "rmdir", "unlink":
		return program{run: removeOne}
	case "trash-empty", "trash-rm":
		return program{values: " --trash-dir ", run: emptyTrash}
	case "shred":
		return program{values: " -n -s --iterations --size --random-source ", run: shred}
	case "truncate", "gtruncate":
		return program{values: " -s -r --size --reference ", run: truncate}
	case "mv", "gmv":
		return program{values: copyValues, run: move}
	case "cp", "gcp", "install", "ginstall", "ditto":
		return program{values: copyValues + copyMode(name), run: copyFiles}
	case "ln", "gln":
		return program{values: copyValues, run: link}
	case "tee", "sponge":
		return program{run: tee}
	case "dd", "gdd":
		return program{run: convert}
	case "mkdir", "touch", "mkfifo", "mknod":
		return program{values: " -m -t -d -r -Z --mode --date --reference ", run: create}
	case "chmod", "gchmod", "chown", "gchown", "chgrp", "chattr", "setfacl", "setcap", "chflags", "xattr":
		return program{values: " -m -x --reference --from -M -X --modify --remove --set --set-file ", run: permit}
	case "sed", "gsed":
		return program{values: " -e -f -l --expression --file --line-length ", run: sed}
	case "awk", "gawk", "mawk", "nawk":
		return program{first: true, values: " -f -F -v -i --file --field-separator --assign --include -e --source ", run: awk}
	case "rsync":
		return program{values: rsyncValues, run: rsync}
	case "tar", "bsdtar", "gtar":
		return program{values: tarValues, run: tar}
	case "unzip", "7z", "7za", "unrar":
		return program{values: " -d -x -P ", run: archive}
	case "zip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "compress", "uncompress":
		return program{values: " -x -i -b -S --suffix --unzip-command ", run: archive}
	case "find", "gfind", "bfind":
		return program{long: true, own: true, literal: true, run: find}
	case "fd", "fdfind":
		return program{own: true, run: fd}
	case "cpio":
		return program{values: " -D --directory -F --file -I -O -E --pattern-file -H --format ", run: cpio}
	case "patch":
		return program{values: " -p -d -i -o -r -B -D -F -V -Y -z --directory --input --output --strip --reject-file ", run: patch}
	case "vi", "vim", "nvim", "ed", "ex", "emacs", "nano":
		return program{values: " -c -S -u --cmd -T -w ", run: edit}
	case "split", "csplit":
		return program{values: " -b -l -n -a -C -t -f --filter --bytes --lines --number --suffix-length --prefix --suffix-format --additional-suffix ", run: splitFile}
	case "fallocate":
		return program{values: " -l -o --length --offset ", run: allocate}
	case "mkfile":
		return program{run: allocate}
	case "yes":
		return program{run: func(c *call) { c.endlessOutput() }}
	case "stress", "stress-ng":
		return program{run: func(c *call) {
			c.unbounded("exec", word(c.name))
		}}
	}
	return program{}
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

func (c *call) deletes(recursive, forced bool, targets ...arg) {
	c.removes(rawEffect{verb: "delete", recursive: recursive, forced: forced}, targets...)
}

func (c *call) removes(e rawEffect, targets ...arg) {
	e.kind = engine.EffectFileDelete
	for _, t := range targets {
		if t.text != "" && !t.is("/dev/null") {
			c.emit(e, t)
		}
	}
}

func remove(c *call) {
	operands := c.opts.operands
	recursive := c.opts.has("-r", "-R", "--recursive") || c.name == "rimraf" || c.name == "del-cli"
	c.out = arg{}
	c.deletes(recursive, c.opts.has("-f", "--force"), operands...)
}

func removeOne(c *call) { c.out = arg{}; c.deletes(false, false, c.opts.operands...) }

// moveToTrash takes files out of sight: a person can take them back until the
// trash is emptied.
func moveToTrash(c *call) {
	operands := c.opts.operands
	first := c.opts.operand(0)
	switch {
	case c.name == "gio" && !first.is("trash", "remove"):
		c.process()
		return
	case c.opts.has("--empty"), c.name == "trash" && first.is("empty"):
		emptyTrash(c)
		return
	case c.opts.has("--list", "-l") || c.name == "trash" && first.is("list", "restore"):
		return
	case c.name == "gio", c.name == "trash" && first.is("put") && len(operands) > 1:
		operands, c.subs = operands[1:], []string{first.text}
	}
	c.out = arg{}
	if c.name == "gio" && first.is("remove") {
		c.deletes(false, c.opts.has("-f", "--force"), operands...)
		return
	}
	c.removes(rawEffect{verb: "trash", recursive: true, reversible: engine.R3}, operands...)
}

// emptyTrash loses for good what was moved aside.
func emptyTrash(c *call) {
	if c.opts.has("-n", "--dry-run") {
		c.signal(engine.SignalDryRun)
		return
	}
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "empty", reversible: engine.R4}, word("trash"))
}

func shred(c *call) {
	if c.opts.has("-u", "--remove") {
		c.deletes(false, true, c.opts.operands...)
	}
	c.writesAs(rawEffect{verb: "truncate", leaves: 1}, c.opts.operands...)
}

// truncate cuts files off, or makes them longer by a hole.
func truncate(c *call) {
	size, _ := c.opts.get("-s", "--size")
	n, known := byteCount(strings.TrimPrefix(size.text, "+"))
	e := rawEffect{verb: "truncate", bytes: n}
	switch {
	case size.hasPrefix("+"):
		e.verb = "write"
	case known:
		e.leaves = n + 1
	}
	c.writesAs(e, c.opts.operands...)
}

// allocate makes files of a size that the call says.
func allocate(c *call) {
	size, given := c.opts.get("-l", "--length")
	files := c.opts.operands
	if !given && len(files) > 1 { // mkfile SIZE FILE
		size, files = files[0], files[1:]
	}
	n, _ := byteCount(size.text)
	c.writesAs(rawEffect{verb: "write", bytes: n}, files...)
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
func (c *call) destination() (sources []arg, dest arg, inDir bool) {
	operands := c.opts.operands
	if d, ok := c.opts.get("-t", "--target-directory"); ok {
		return operands, d, true
	}
	n := len(operands)
	if n < 2 {
		return operands, arg{}, false
	}
	dest = operands[n-1]
	sources = operands[:n-1]
	inDir = n > 2 || strings.HasSuffix(dest.text, "/") || dest.is(".", "..") || sources[0].glob
	return sources, dest, inDir && !c.opts.has("-T", "--no-target-directory")
}

// maxLandings is how many places are listed one by one; then it is the folder.
const maxLandings = 32

// landing lists where sources end up.
func landing(sources []arg, dest arg, inDir bool) []arg {
	if !inDir {
		return []arg{dest}
	}
	var out []arg
	for i, src := range sources {
		if i == maxLandings {
			return append(out, dest)
		}
		base, _ := arg{text: strings.TrimSuffix(src.text, "/")}.base()
		if base == "" || base == "." || base == ".." || src.from != nil {
			base = holeText
		}
		t := dest.with(strings.TrimSuffix(dest.text, "/") + "/" + base)
		t.glob = dest.glob || src.glob
		out = append(out, t)
	}
	return out
}

// move is mv. What goes elsewhere is gone from where it was; what stays in its
// directory or below the present one has a new name.
func move(c *call) {
	sources, dest, inDir := c.destination()
	forced := c.opts.has("-f", "--force")
	if c.opts.has("-n", "--no-clobber") {
		forced = false
	}
	for _, src := range sources {
		e := rawEffect{kind: engine.EffectFileDelete, verb: "move", recursive: true, forced: forced}
		if c.s.staysNear(src, dest) {
			e = rawEffect{kind: engine.EffectFileWrite, verb: "move", forced: forced}
		}
		c.emit(e, src)
	}
	if dest.text == "" {
		return
	}
	for _, t := range landing(sources, dest, inDir) {
		c.writes("write", t)
	}
	for _, t := range landing(sources, dest, inDir) {
		if text, ok := c.s.written(sources[0]); ok {
			c.s.store(t, text, false)
		}
	}
}

// staysNear tells whether a move keeps a file where it can be found.
func (s *shell) staysNear(src, dest arg) bool {
	if !src.known() || !dest.known() || dest.text == "" || dest.hasPrefix("/dev/") {
		return false
	}
	dir := s.scope.dirs[0]
	if len(s.scope.dirs) > 1 && (!src.hasPrefix("/") || !dest.hasPrefix("/")) {
		return false
	}
	a, b := joinDir(dir, src), joinDir(dir, dest)
	if dir.sure == unknown && !strings.HasPrefix(src.text, "/") && !strings.HasPrefix(dest.text, "/") {
		return !strings.Contains(src.text+dest.text, "..")
	}
	if path.Dir(a.text) == path.Dir(b.text) && !src.glob {
		return true
	}
	return below(a.text, dir.text) && below(b.text, dir.text)
}

func below(p, dir string) bool {
	return dir != "" && dir != "/" && strings.HasPrefix(p, dir+"/")
}

func copyFiles(c *call) {
	if strings.HasSuffix(c.name, "install") && c.opts.has("-d", "--directory") {
		c.writes("create", c.opts.operands...)
		return
	}
	sources, dest, inDir := c.destination()
	c.reads(sources...)
	if dest.text == "" {
		return
	}
	if mode, ok := c.opts.get("-m", "--mode"); ok && broadMode(mode.text) {
		c.signal(engine.SignalPermission)
	}
	verb := "write"
	if len(sources) == 1 && sources[0].is("/dev/null") {
		verb = "truncate"
	}
	if c.opts.has("-l", "-s", "--link", "--symbolic-link") && !strings.HasSuffix(c.name, "install") {
		verb = "link"
	}
	if isRemote(dest) {
		return
	}
	for _, t := range landing(sources, dest, inDir) {
		e := rawEffect{verb: verb}
		if verb == "truncate" {
			e.leaves = 1
		}
		c.writesAs(e, t)
		c.s.copied(sources[0], t)
		if text, ok := c.s.written(sources[0]); ok {
			c.s.store(t, text, false)
		}
	}
}

// link is ln. A symbolic link is remembered: what is done through it happens
// to its target.
func link(c *call) {
	sources, dest, inDir := c.destination()
	if len(c.opts.operands) == 1 {
		base, _ := sources[0].base()
		dest = word(base)
	}
	if !c.opts.has("-s", "--symbolic") {
		c.reads(sources...) // the other name shows the file wherever it is read, and nothing tells by then
	}
	e := rawEffect{kind: engine.EffectFileWrite, verb: "link", forced: c.opts.has("-f", "--force")}
	for i, t := range landing(sources, dest, inDir) {
		c.emit(e, t)
		if i >= len(sources) {
			break
		}
		for _, dir := range c.s.scope.dirs {
			at := joinDir(dir, t)
			from := value{literal, path.Dir(at.text)}
			if !c.opts.has("-s", "--symbolic") {
				from = dir
			}
			if at.sure == literal && len(c.s.links) < 256 {
				c.s.links[at.text] = joinDir(from, sources[i])
				c.s.copied(sources[i], at.arg())
			}
		}
	}
}

func tee(c *call) {
	verb := "write"
	if c.opts.has("-a", "--append") {
		verb = "append"
	}
	if in := c.s.frame.stdin; in != nil {
		c.out = *in
		for _, t := range c.opts.operands {
			c.s.store(t, *in, verb == "append")
		}
	}
	for _, t := range c.opts.operands {
		if t.hasPrefix("/dev/tcp/") {
			c.sends("send", t)
		}
	}
	c.writes(verb, c.opts.operands...)
}

// convert is dd.
func convert(c *call) {
	endless, counted := false, false
	block, count := int64(512), int64(0)
	c.opts.operands = nil
	for _, a := range c.args {
		key, v, _ := strings.Cut(a.text, "=")
		switch key {
		case "if":
			c.reads(a.with(v))
			endless = v == "/dev/zero" || v == "/dev/urandom" || v == "/dev/random"
			if strings.HasPrefix(v, "/dev/") && !harmlessDevice(word(v)) {
				c.out = unknownArg()
			}
		case "bs":
			block, _ = byteCount(v)
		case "of":
			if in := c.s.frame.stdin; in != nil {
				c.s.store(a.with(v), *in, false)
			}
		case "count":
			counted = true
			count, _ = byteCount(v)
		}
	}
	for _, a := range c.args {
		if a.hasPrefix("of=") {
			c.writesAs(rawEffect{verb: "write", bytes: product(block, count)}, a.with(a.text[3:]))
		}
	}
	if endless && !counted {
		for _, a := range c.args {
			if a.hasPrefix("of=") {
				c.unbounded("write", a.with(a.text[3:]))
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

func create(c *call) {
	c.out = arg{}
	operands := c.opts.operands
	if c.name == "mknod" && len(operands) > 0 {
		operands = operands[:1]
	}
	c.writesAs(rawEffect{verb: "create", parents: c.name == "mkdir" && c.opts.has("-p", "--parents")}, operands...)
	if c.name == "mkfifo" {
		for _, t := range operands {
			c.s.store(t, unknownArg(), false) // what is written there later is read
		}
	}
}

// permit is chmod, chown and their like.
func permit(c *call) {
	recursive := c.opts.has("-R", "--recursive") || c.name == "xattr" && c.opts.has("-r")
	verb := "chmod"
	if strings.HasSuffix(c.name, "chown") || c.name == "chgrp" {
		verb = "chown"
	}
	operands := c.opts.operands
	skipsFirst := !c.opts.has("--reference", "-m", "-x", "--modify", "--set", "-b", "-k") || strings.HasSuffix(c.name, "chmod") && !c.opts.has("--reference")
	if c.name == "chmod" {
		operands = chmodOperands(c.args)
	}
	mode := arg{}
	if skipsFirst && len(operands) > 0 {
		mode, operands = operands[0], operands[1:]
	}
	if verb == "chmod" && (broadMode(mode.text) || c.name == "setcap") && strings.HasSuffix(c.name, "chmod") || c.name == "setcap" {
		c.signal(engine.SignalPermission)
	}
	if verb == "chmod" && !recursive && closes(mode.text) {
		verb = "restrict"
	}
	c.out = arg{}
	for _, t := range operands {
		c.s.diskWrite(t)
		c.emit(rawEffect{kind: engine.EffectFileWrite, verb: verb, recursive: recursive, forced: c.opts.has("-f", "--force")}, t)
	}
}

// endlessOutput notes output without end that no other command cuts off.
func (c *call) endlessOutput() {
	if !c.s.frame.feeds {
		c.unbounded("write", word(c.name))
	}
}

// unbounded notes what goes on without end, unless a time limit ends it.
func (c *call) unbounded(verb string, target arg) {
	if !c.s.bounded() {
		c.signal(engine.SignalUnbounded)
		c.emit(rawEffect{kind: engine.EffectResource, verb: verb}, target)
	}
}

// bounded tells whether what runs now is ended by a time limit. Code that
// catches the signal may go on.
func (s *shell) bounded() bool { return s.frame.bounded && !s.traps }

// chmodOperands takes "-w" and its like for the mode that it is.
func chmodOperands(args []arg) []arg {
	var out []arg
	for _, a := range args {
		if a.hasPrefix("-") && strings.Trim(a.text, "-rwxXst") == "" && len(a.text) > 1 && !a.hasPrefix("--") || !a.hasPrefix("-") {
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

// broadMode tells whether a mode lets everybody write, or runs a program as
// its owner.
func broadMode(mode string) bool {
	if mode != "" && strings.Trim(mode, "01234567") == "" {
		special := len(mode) == 4 && strings.ContainsAny(mode[:1], "2467")
		return special || strings.ContainsAny(mode[len(mode)-1:], "2367")
	}
	for _, clause := range strings.Split(mode, ",") {
		i := strings.IndexAny(clause, "+=")
		if i < 0 {
			continue
		}
		who, perm := clause[:i], clause[i+1:]
		if strings.Contains(perm, "s") || strings.Contains(perm, "w") && strings.ContainsAny(who, "ao") {
			return true
		}
	}
	return false
}

func cpio(c *call) {
	o := c.opts
	c.reads(o.all("-F", "--file", "-I")...)
	dirs := o.all("-D", "--directory")
	switch {
	case o.has("-p", "--pass-through"):
		dirs = o.operands
	case !o.has("-i", "--extract") || o.has("-t", "--list"):
		c.writes("write", o.all("-O")...)
		return
	case len(dirs) == 0:
		dirs = []arg{word(".")}
	}
	for _, d := range dirs {
		c.emit(rawEffect{kind: engine.EffectFileWrite, verb: "write", recursive: true}, d.with(strings.TrimSuffix(d.text, "/")+"/"+holeText))
	}
}

func patch(c *call) {
	if c.opts.has("--dry-run") {
		c.signal(engine.SignalDryRun)
		return
	}
	if out, ok := c.opts.get("-o", "--output"); ok {
		c.writes("write", out)
		return
	}
	if len(c.opts.operands) > 0 {
		c.writes("write", c.opts.operand(0))
		return
	}
	dir, ok := c.opts.get("-d", "--directory")
	if !ok {
		dir = word(".")
	}
	input := c.opts.all("-i", "--input")
	c.reads(input...)
	if !ok && c.patches(input) {
		return
	}
	c.writes("write", word(strings.TrimSuffix(dir.text, "/")+"/"+holeText))
}
