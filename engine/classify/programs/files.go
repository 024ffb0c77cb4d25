package programs

import (
	"math"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// destination splits the operands of cp, mv and ln into sources and the destination; inDir
// reports whether the sources keep their names below it.
func destination(c *shell.Call) (sources []abstract.Arg, dest abstract.Arg, inDir bool) {
	operands := c.Opts.Operands
	if d, ok := c.Opts.Get("-t", "--target-directory"); ok {
		return operands, d, true
	}
	n := len(operands)
	switch {
	case n == 1 && !operands[0].Known() && operands[0].Splits: // it stands for all operands: mv $FILES
		return operands, operands[0], true
	case n < 2:
		return operands, abstract.Arg{}, false
	}
	dest = operands[n-1]
	sources = operands[:n-1]
	inDir = n > 2 || strings.HasSuffix(dest.Text, "/") || dest.Is(".", "..") || sources[0].Glob && !sources[0].One
	return sources, dest, inDir && !c.Opts.Has("-T", "--no-target-directory")
}

// maxLandings limits the destinations that are listed individually; beyond it, the
// folder is reported.
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

// move handles mv. A file that moves elsewhere is removed from its place; within its
// directory or below the current one, it has a new name.
func move(c *shell.Call) {
	sources, dest, inDir := destination(c)
	forced := c.Opts.Has("-f", "--force")
	if c.Opts.Has("-n", "--no-clobber") {
		forced = false
	}
	sources = slices.Clone(sources)
	for i, src := range sources {
		if src.One { // a pattern would mean that all files that match are moved to one name
			src = src.Unnamed()
			sources[i] = src
		}
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

// copyFiles handles cp and install. A copy of /dev/null empties the file.
func copyFiles(c *shell.Call) {
	verb := "write"
	if sources, _, _ := destination(c); len(sources) == 1 && sources[0].Is("/dev/null") {
		verb = "truncate"
	}
	copiesAs(c, verb)
}

// copyLinks handles cp with options that make links instead of copies.
func copyLinks(c *shell.Call) { copiesAs(c, "link") }

func copiesAs(c *shell.Call, verb string) {
	sources, dest, inDir := destination(c)
	c.Reads(sources...)
	if c.Opts.Has("-r", "-R", "-a", "--recursive", "--archive") || c.Name == "ditto" {
		c.Sweeps(sources...)
	}
	if dest.Text == "" {
		return
	}
	if abstract.IsRemote(dest) {
		return
	}
	mode, _ := c.Opts.Get("-m", "--mode")
	e := abstract.RawEffect{Verb: verb, Mode: mode.Show()}
	if verb == "truncate" {
		e.Leaves = 1
	}
	for _, s := range sources {
		for _, name := range hiddenFolders(c, s) {
			folder := strings.TrimSuffix(dest.Text, "/") + "/" + name
			c.WritesAs(e, dest.With(folder), dest.With(folder+"/settings.json"))
		}
	}
	for i, t := range landing(sources, dest, inDir) {
		c.WritesAs(e, t)
		if verb == "link" && i < len(sources) {
			c.Shell.Linked(sources[i], t, c.Opts.Has("-s", "--symbolic-link"))
			continue
		}
		c.Shell.Copied(sources[0], t)
		if text, ok := c.Shell.Written(sources[0]); ok {
			c.Shell.Store(t, text, false)
		}
	}
}

// link handles ln. Symbolic links are remembered: what is done through a link happens to
// its target.
func link(c *shell.Call) {
	sources, dest, inDir := destination(c)
	if len(c.Opts.Operands) == 1 && !inDir {
		base, _ := sources[0].Base()
		dest = abstract.Word(base)
	}
	if !c.Opts.Has("-s", "--symbolic") {
		c.Reads(sources...) // later, nothing shows that reading the other name reads the file
	}
	e := abstract.RawEffect{Kind: engine.EffectFileWrite, Verb: "link", Forced: c.Opts.Has("-f", "--force")}
	for i, t := range landing(sources, dest, inDir) {
		c.Emit(e, t)
		if i >= len(sources) {
			break
		}
		c.Shell.Linked(sources[i], t, c.Opts.Has("-s", "--symbolic"))
	}
}

// tee passes on its input, and remembers it. A device can be a host.
func tee(c *shell.Call) {
	if in := c.Shell.Frame.Stdin; in != nil {
		c.Out = *in
		for _, t := range c.Opts.Operands {
			c.Shell.Store(t, *in, c.Opts.Has("-a", "--append"))
		}
	}
	for _, t := range c.Opts.Operands {
		if t.HasPrefix("/dev/tcp/") {
			c.Sends("send", t)
		}
	}
}

// convert handles dd, whose operands are settings.
func convert(c *shell.Call) {
	c.Opts.Operands = nil
	is := map[string]abstract.Arg{"bs": abstract.Word("512")}
	for _, a := range c.Args {
		if key, value, ok := strings.Cut(a.Text, "="); ok {
			is[key] = a.With(value)
		}
	}
	from, to := is["if"], is["of"]
	c.Reads(from)
	if from.HasPrefix("/dev/") && !shell.HarmlessDevice(from) {
		c.Out = abstract.UnknownArg()
	}
	if in := c.Shell.Frame.Stdin; in != nil && to.Text != "" {
		c.Shell.Store(to, *in, false)
	}
	block, _ := abstract.ByteCount(is["bs"].Text)
	count, counted := abstract.ByteCount(is["count"].Text)
	c.WritesAs(abstract.RawEffect{Verb: "write", Bytes: product(block, count)}, to)
	if from.Is("/dev/zero", "/dev/urandom", "/dev/random") && !counted && to.Text != "" {
		c.Unbounded("write", to)
	}
}

// product multiplies sizes, as far as they are known.
func product(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// makeFolders handles mkdir.
func makeFolders(c *shell.Call) {
	c.WritesAs(abstract.RawEffect{Verb: "create", Parents: c.Opts.Has("-p", "--parents")}, c.Opts.Operands...)
}

// fifo remembers that the data written to a pipe is unknown.
func fifo(c *shell.Call) {
	for _, t := range c.Opts.Operands {
		c.Shell.Store(t, abstract.UnknownArg(), false)
	}
}

// permit handles chmod with a mode, which may look like an option: -w.
func permit(c *shell.Call) {
	operands := slices.DeleteFunc(slices.Clone(c.Args), func(a abstract.Arg) bool {
		mode := len(a.Text) > 1 && !a.HasPrefix("--") && strings.Trim(a.Text, "-rwxXst") == ""
		return a.HasPrefix("-") && !mode
	})
	if len(operands) == 0 {
		return
	}
	mode := operands[0]
	e := abstract.RawEffect{Verb: "chmod", Mode: mode.Show(), Recursive: c.Opts.Has("-R", "--recursive"), Forced: c.Opts.Has("-f", "--force")}
	if !e.Recursive && place.Closes(mode.Text) {
		e.Verb = "restrict"
	}
	c.WritesAs(e, operands[1:]...)
}

// endlessOutput records unlimited output that no other command truncates.
func endlessOutput(c *shell.Call) {
	if !c.Shell.Frame.Feeds {
		c.Unbounded("write", abstract.Word(c.Name))
	}
	if c.Out = abstract.Concat(shell.JoinWords(c.Args), abstract.Word("\n")); len(c.Args) == 0 {
		c.Out = abstract.Word("y\n")
	}
}

// patch handles patch: a known patch lists what it changes; any other may change anything.
func patch(c *shell.Call) {
	if !languages.Patches(c, c.Opts.All("-i", "--input")) {
		c.Writes("write", abstract.Word("./"+abstract.HoleText))
	}
}

// unbounded handles programs that run without end.
func unbounded(c *shell.Call) { c.Unbounded("exec", abstract.Word(c.Name)) }

// splitFilter runs a command on each of the pieces of a file.
func splitFilter(c *shell.Call) {
	code, _ := c.Opts.Get("--filter")
	c.Child(func() shell.Outcome {
		c.Shell.Frame.Piped, c.Shell.Frame.Stdin = true, &abstract.Arg{Text: abstract.HoleText, Taint: abstract.Filed}
		return c.Shell.Embed(code, "split", false)
	})
}
