package classify

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// readPrograms are the programs that only read: the files that they name are
// all that there is to say about them.
func readPrograms(name string) program {
	p := readProgram(name)
	p.reading = true
	return p
}

func readProgram(name string) program {
	switch name {
	case "ls", "dir", "vdir", "eza", "exa", "lsd", "tree":
		return program{values: " -I -w -T -L -P --ignore ", run: listFiles}
	case "bat", "batcat":
		return program{values: " -l --language -r --line-range --style ", run: printFiles}
	case "cat", "tac":
		return program{values: " --separator ", run: printFiles}
	case "head", "tail":
		return program{values: " -n -c --lines --bytes -s --pid ", run: readOperands}
	case "wc", "nl", "less", "more", "file", "stat", "du", "df", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum", "cksum", "sum", "md5", "shasum",
		"od", "hexdump", "hd", "strings", "readelf", "objdump", "nm", "size", "ldd", "otool", "diff", "colordiff", "sdiff", "cmp", "comm", "join", "paste", "fold", "fmt", "column", "pr", "expand", "unexpand",
		"tsort", "look", "iconv", "zcat", "bzcat", "xzcat", "zless", "bzless", "zstdcat", "lz4cat", "tokei", "cloc", "scc", "lsattr", "getfacl", "namei", "exiftool", "pdftotext", "glow", "mdcat":
		return program{values: " -n -c -w -s -t -d -f -e -m -l -k -j -p -b -B -T -A -N -W -I -x -X --exclude --max-depth --label --algorithm -a ", run: readOperands}
	case "grep", "egrep", "fgrep", "zgrep", "bzgrep":
		return program{values: grepValues, run: search}
	case "rg", "ripgrep":
		return program{values: ripgrepValues, run: search}
	case "ag", "ack", "pcregrep", "ugrep":
		return program{values: otherGrepValues, run: search}
	case "cut", "tr", "rev":
		return program{values: " -d -f -c -b --delimiter --fields --output-delimiter ", run: transform}
	case "jq", "yq", "gojq", "jaq", "xq", "fx", "dasel":
		return program{values: " --arg --argjson --slurpfile --rawfile --indent -L ", run: query}
	case "sort":
		return program{values: " -k -t -o -T -S --key --field-separator --output --parallel --buffer-size --temporary-directory --files0-from --batch-size --compress-program ", run: sortFiles}
	case "uniq":
		return program{values: " -f -s -w ", run: uniq}
	case "base64", "base32", "gbase64", "xxd", "uuencode", "uudecode":
		return program{values: " -w -b -i -o -c -l -s -g ", run: encode}
	case "which":
		return program{run: func(c *call) { c.out = programPath(c.opts.operands) }}
	case "man":
		return program{values: " -P --pager -H --html -C -M -S -e -R -r ", run: manual}
	case "env", "printenv":
		return program{run: environment}
	case "pgrep", "pidof":
		return program{values: " -u -g -P -t -s -U -G -d -F ", run: func(c *call) { c.looksUp(c.opts.operands...) }}
	case "ps", "top", "htop", "lsof", "netstat", "ss", "free", "vmstat", "iostat", "lscpu", "lsblk", "lsusb", "lspci", "lsmod", "blkid", "findmnt", "ifconfig",
		"w", "who", "last", "lastlog", "whereis", "type", "info", "apropos", "whatis", "help", "cal", "bc", "dc", "expr", "factor", "numfmt", "locale", "figlet", "cowsay", "lolcat",
		"getent", "locate", "mlocate", "plocate", "dpkg-query", "rpmquery", "sw_vers", "system_profiler", "pstree", "sensors", "sar", "dirs", "caller":
		return program{run: nothing}
	}
	return program{}
}

// What takes a value differs from one grep to the next: -r is recursive here and
// a replacement there. A flag that is taken for one with a value makes the
// pattern its value, and the file the pattern.
const (
	grepValues      = " -e -f -A -B -C -m -d -D --regexp --file --include --exclude --exclude-dir --exclude-from --context --after-context --before-context --max-count --directories --devices --label --binary-files --group-separator "
	ripgrepValues   = " -e -f -A -B -C -m -d -g -t -T -j -M -E -r --regexp --file --context --after-context --before-context --max-count --glob --iglob --type --type-not --type-add --type-clear --max-depth --max-filesize --max-columns --threads --replace --sort --sortr --color --colors --engine --encoding --ignore-file --pre --pre-glob --path-separator --context-separator --field-match-separator "
	otherGrepValues = " -e -A -B -C -m -g -G -p --regexp --file --include --exclude --exclude-dir --context --after-context --before-context --max-count --ignore --ignore-dir --path-to-ignore --depth "
)

func nothing(c *call) {}

// relativeNames is a list of names below the present directory.
func relativeNames(c *call, roots []arg) arg {
	var text strings.Builder
	for _, r := range roots {
		if r.text == "." || r.text == "" {
			r.text = "."
		}
		text.WriteString(strings.TrimSuffix(r.text, "/") + "/" + holeText + "\n")
	}
	if len(roots) == 0 {
		return word("./" + holeText + "\n")
	}
	return word(text.String())
}

func listFiles(c *call) {
	c.reads(c.opts.operands...)
	c.out = relativeNames(c, nil)
	for _, a := range c.opts.operands {
		if a.hasPrefix("/") || a.hasPrefix("~") || a.hasPrefix("..") || !a.known() {
			c.out = unknownArg()
		}
	}
}

// printFiles is cat: what the script has written is printed again.
func printFiles(c *call) {
	in := c.s.frame.stdin
	out := arg{}
	for _, a := range c.opts.operands {
		text, ok := c.s.shown(a)
		switch {
		case a.is("-") && in != nil:
			text = *in
		case a.from != nil:
			text = *a.from
		case a.is("/dev/null"):
			text = arg{}
		case a.is("/dev/zero", "/dev/urandom", "/dev/random"):
			c.endlessOutput()
			text = unknownArg()
		case !ok:
			text = arg{text: holeText, taint: filed}
		}
		out = concat(out, text)
	}
	if len(c.opts.operands) == 0 {
		out = unknownArg()
		if in != nil {
			out = *in
		}
	}
	c.reads(c.opts.operands...)
	c.out = out
}

func readOperands(c *call) {
	for _, a := range c.opts.operands {
		if a.from != nil {
			c.out.taint |= a.from.taint
		}
	}
	c.reads(c.opts.operands...)
	c.reads(c.opts.perhapsFiles()...)
}

// search is grep: the first operand is a pattern unless an option gave one.
func search(c *call) {
	files := c.opts.operands
	patterns := c.opts.all("-e", "--regexp")
	if !c.opts.has("-e", "-f", "--regexp", "--file", "--files") && len(files) > 0 {
		patterns, files = files[:1], files[1:]
	}
	if c.s.frame.piped && len(files) == 0 { // ps | grep NAME
		c.looksUp(patterns...)
	}
	if pre, ok := c.opts.get("--pre"); ok {
		c.child(func() outcome { return c.s.invoke([]arg{pre, unknownArg()}, c.node) })
	}
	c.reads(files...)
	c.reads(c.opts.all("-f", "--file", "--exclude-from", "--ignore-file")...)
	if c.opts.has("-l", "--files-with-matches", "--files", "-L") {
		c.out = relativeNames(c, files)
	}
}

// transform is a filter over text that is followed where it is known: rot13
// and reversed text hide code.
func transform(c *call) {
	in := c.s.frame.stdin
	if c.name == "cut" || in == nil || !in.known() {
		if c.name != "tr" {
			c.reads(c.opts.operands...)
		}
		return
	}
	c.out.taint |= decoded
	switch {
	case c.name == "rev":
		lines := strings.Split(in.text, "\n")
		for i, l := range lines {
			lines[i] = reversed(l)
		}
		c.out.text = strings.Join(lines, "\n")
	case len(c.opts.operands) == 2 && len(c.opts.list) == 0:
		c.out.text = translate(in.text, c.opts.operands[0].text, c.opts.operands[1].text)
	case len(c.opts.operands) == 1 && c.opts.has("-d"):
		set := rangeSet(c.opts.operands[0].text)
		c.out.text = strings.Map(func(r rune) rune {
			if strings.ContainsRune(set, r) {
				return -1
			}
			return r
		}, in.text)
	}
}

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func translate(text, from, to string) string {
	a, b := []rune(rangeSet(from)), []rune(rangeSet(to))
	if len(a) == 0 || len(b) == 0 {
		return text
	}
	table := map[rune]rune{}
	for i, r := range a {
		table[r] = b[min(i, len(b)-1)]
	}
	return strings.Map(func(r rune) rune {
		if t, ok := table[r]; ok {
			return t
		}
		return r
	}, text)
}

// rangeSet spells out a-z in a set of tr.
func rangeSet(set string) string {
	set = strings.NewReplacer("[:upper:]", "A-Z", "[:lower:]", "a-z", "[:digit:]", "0-9", `\n`, "\n", `\t`, "\t").Replace(set)
	r := []rune(set)
	var b strings.Builder
	for i := 0; i < len(r); i++ {
		if i+2 < len(r) && r[i+1] == '-' && r[i] <= r[i+2] && r[i+2] < 0x80 {
			for c := r[i]; c <= r[i+2]; c++ {
				b.WriteRune(c)
			}
			i += 2
			continue
		}
		b.WriteRune(r[i])
	}
	return b.String()
}

func query(c *call) {
	files := c.opts.operands
	filtered := c.opts.has("-f", "--from-file", "--slurpfile", "--rawfile") // those take a name and a file
	if len(files) > 0 && !filtered {
		files = files[1:]
	}
	if c.name == "yq" && c.opts.has("-i", "--inplace") {
		c.writes("write", files...)
		return
	}
	c.reads(files...)
}

func sortFiles(c *call) {
	c.reads(c.opts.operands...)
	if out, ok := c.opts.get("-o", "--output"); ok {
		c.writes("write", out)
	}
	if prog, ok := c.opts.get("--compress-program"); ok {
		c.child(func() outcome { return c.s.invoke([]arg{prog}, c.node) })
	}
}

func uniq(c *call) {
	c.reads(c.opts.operand(0))
	c.writes("write", c.opts.operand(1))
}

// encode is base64 and xxd; what they decode is followed where it is known.
func encode(c *call) {
	c.reads(c.opts.operands...)
	c.reads(c.opts.perhapsFiles()...)
	for _, out := range c.opts.all("-o") {
		c.writes("write", out)
	}
	decodes := c.opts.has("-d", "-D", "--decode") || c.name == "xxd" && c.opts.has("-r", "-revert") || c.name == "uudecode"
	if !decodes {
		return
	}
	c.out.taint |= decoded
	kind := "base64"
	if c.name == "xxd" {
		kind = "hex"
	}
	in := c.s.frame.stdin
	if in == nil && len(c.opts.operands) > 0 {
		if text, ok := c.s.written(c.opts.operands[0]); ok {
			in = &text
		} else if from := c.opts.operands[0].from; from != nil {
			in = from
		}
	}
	if in == nil || !in.known() || len(c.opts.operands) > 0 && c.s.frame.stdin == in {
		return
	}
	if text, ok := decodeText(kind, in.text); ok {
		c.out.text = text
	}
}

func environment(c *call) {
	if len(c.opts.operands) == 0 {
		c.signal(engine.SignalEnvDump)
	}
}
