package classify

import (
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Bounds of what is looked at for marks and of what is kept.
const (
	maxActionMarks = 28
	maxResultMarks = 48
	maxMarked      = 64 << 10 // bytes of a text: the first
	maxLooks       = 64       // names that are looked up on the disk
	longToken      = 12       // bytes from which a token can tell where it comes from
	longWords      = 16       // …of words only
	maxLiteral     = 2048     // bytes of a literal
	maxValues      = 4        // values behind = in one piece
	maxBackwards   = 512      // bytes of a word that is read backwards
	secretValue    = 8        // bytes from which a value of a file with secrets counts
)

// The ranks of literals, the most telling first: of too many, those are kept.
const (
	rankPlace    = iota // an address, a host, a package, a command
	rankToken           // long and not made of words
	rankDecoded         // what stands in a literal as code
	rankShort           // in actions: could be a short secret
	rankReversed        // what reads so backwards
	rankGram            // in secrets, and in actions what could be a piece of one: see grams
	rankWord            // in prompts: could be the name of a package
	ranks
)

// markShares is how many of 28 marks a rank may take before the others had theirs:
// no wealth of words pushes out what is hidden.
var markShares = [ranks]int{10, 4, 4, 3, 3, 4, 0}

// literals are the texts in a text that could have come from elsewhere, by
// rank, each once.
type literals struct {
	list [ranks][]string
	seen map[string]bool
	room int  // how many more of a rank are collected than can be kept
	act  bool // of an action, which may hold pieces of secrets
}

func newLiterals(keep int) *literals { return &literals{seen: map[string]bool{}, room: 4 * keep} }

func (l *literals) add(rank int, s string) {
	if s == "" || len(s) > maxLiteral || l.full(rank) || l.seen[s] {
		return
	}
	l.seen[s] = true
	l.list[rank] = append(l.list[rank], s)
}

func (l *literals) full(rank int) bool { return len(l.list[rank]) >= l.room }

// marker makes marks: keyed hashes of literals. What is common to all that
// happens in the workspace is none.
type marker struct {
	mac   func([]byte) string
	known func(name string) bool // the workspace holds a file of that name
}

// hashes returns the marks of the most telling literals, at most n: of each rank
// its share, and then by rank.
func (k *marker) hashes(l *literals, n int) []string {
	var out []string
	took := map[string]bool{}
	take := func(list []string, n int) {
		for _, s := range list {
			if n <= 0 {
				return
			}
			mark := k.mac([]byte("mark\x00" + s))[:8]
			if took[s] || k.known(s) || slices.Contains(out, mark) {
				continue
			}
			took[s] = true
			out = append(out, mark)
			n--
		}
	}
	for rank, list := range l.list {
		take(list, n*markShares[rank]/maxActionMarks)
	}
	for _, list := range l.list {
		take(list, n-len(out))
	}
	return out
}

// ofOutput returns the marks of what an action printed.
func (k *marker) ofOutput(text string, a *engine.Action) []string {
	if readsSecrets(a) {
		return k.ofSecrets(text)
	}
	return k.ofText(text)
}

// ofText returns the marks of an output or a prompt.
func (k *marker) ofText(text string) []string {
	l := newLiterals(maxResultMarks)
	l.text(clip(text, maxMarked), rankToken)
	return k.hashes(l, maxResultMarks)
}

// ofPrompt returns the marks of what a person wrote. Each word could be the name
// of a package that they want.
func (k *marker) ofPrompt(text string) []string {
	l := newLiterals(maxResultMarks)
	text = clip(text, maxMarked)
	l.text(text, rankToken)
	for w := range strings.FieldsSeq(text) {
		if name := packageName(strings.Trim(w, "\"'`(),;")); len(name) > 1 && !stopWords.has(name) {
			l.add(rankWord, packageLiteral+name)
		}
	}
	return k.hashes(l, maxResultMarks)
}

// ofSecrets returns the marks of the output of a file with secrets: its values.
// Hosts and addresses in it are no secrets, and are met elsewhere.
func (k *marker) ofSecrets(text string) []string {
	l := newLiterals(maxResultMarks)
	for line := range strings.Lines(clip(text, maxMarked)) {
		l.secrets(line)
	}
	return k.hashes(l, maxResultMarks)
}

// secrets collects the values in a line of a file with secrets.
func (l *literals) secrets(line string) {
	for _, v := range secretValues(line) {
		l.secret(v)
	}
}

// ofFound returns the marks of the secrets that give themselves away in a text,
// wherever it comes from; asked says that a secret was asked for, and nothing
// else.
func (k *marker) ofFound(text string, asked bool) []string {
	l := newLiterals(maxResultMarks)
	text = clip(text, maxMarked)
	for line := range strings.Lines(text) {
		if asked {
			l.secrets(line)
		}
	}
	for _, s := range findSecrets(text) {
		if s.kind == kindMasked || s.kind == "client_id" {
			continue
		}
		for line := range strings.Lines(text[s.start:s.end]) { // a key has several
			if line = strings.TrimSpace(line); len(line) >= secretValue && !strings.HasPrefix(line, "-----") {
				l.secret(line)
			}
		}
	}
	return k.hashes(l, maxResultMarks)
}

// secret collects a secret, and pieces of it.
func (l *literals) secret(v string) {
	l.add(rankToken, v)
	for _, g := range grams(v) {
		l.add(rankGram, g)
	}
}

// Pieces of secrets: any gramSize+gramWindow-1 characters in common are noticed.
const (
	gramSize   = 10
	gramWindow = 3
	maxGrams   = 24 // of one text
)

// grams picks pieces of a text that looks random, so that two texts with twelve
// characters in a row in common have a piece in common: of each three pieces next
// to each other the one with the least hash.
func grams(s string) []string {
	if !dense(s) {
		return nil
	}
	var out []string
	last := -1
	for i := 0; i+gramSize+gramWindow-1 <= len(s) && len(out) < maxGrams; i++ {
		least := i
		for j := i + 1; j < i+gramWindow; j++ {
			if fnv32(s[j:j+gramSize]) < fnv32(s[least:least+gramSize]) {
				least = j
			}
		}
		if least != last {
			out, last = append(out, s[least:least+gramSize]), least
		}
	}
	return out
}

// fnv32 is the hash FNV-1a. It only orders pieces; marks are keyed hashes.
func fnv32(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// dense says that a text is no word or list of words: it was drawn by lot.
func dense(s string) bool {
	return len(s) >= longToken && hasDigit(s) && strings.Map(dropLetter, s) != s && !strings.ContainsAny(s, " \t") && !plainWords(s)
}

// plainWords says that a text is made of words and numbers, as the names of regions,
// models and versions are: eu-central-1, 300ms, v1.2.3-beta.
func plainWords(s string) bool {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune("-_./:@,+ ", r) }) {
		letters := strings.Trim(part, "0123456789")
		ends := len(part) - len(letters)
		if hasDigit(letters) || letters != "" && (ends > 4 && len(letters) > 2 || ends > 8) || mixedCase(letters) {
			return false
		}
	}
	return true
}

// namesSecret says that what is given to a name is a secret, however it looks.
func namesSecret(name string) bool {
	low := strings.ToLower(name)
	return strings.Contains(low, "pass") || slices.ContainsFunc(keywords, func(k keyword) bool { return strings.Contains(low, k.word) })
}

// secretValues are the values in a line of a file with secrets: what is behind
// = or :, or the line itself where it is one long token, and passwords in
// addresses. Of names that do not say secret only what looks like one counts.
func secretValues(line string) []string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "-----") {
		return nil
	}
	name, value := "", line
	if i := strings.IndexAny(line, "=:"); i >= 0 && !strings.HasPrefix(line[i:], "://") {
		name, value = line[:i], line[i+1:]
	}
	value = strings.Trim(strings.TrimSpace(strings.TrimRight(strings.TrimSpace(value), ",;")), "\"'` ")
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		if password, ok := u.User.Password(); ok && len(password) >= secretValue {
			return []string{password, value}
		}
		return nil
	}
	if len(value) < secretValue || plainWords(value) && !namesSecret(name) || strings.Trim(value, "0123456789.") == "" && len(value) < longToken || hostName(value) || strings.ContainsAny(value, " \t") && value == line {
		return nil
	}
	return []string{value}
}

// ofAction returns the marks of a call's raw arguments, as they are and as they
// read once decoded. Of contents the beginning counts.
func (k *marker) ofAction(texts []string) []string {
	l := newLiterals(maxActionMarks)
	l.act = true
	room := maxMarked
	for _, text := range texts {
		text = clip(text, room)
		room -= len(text)
		l.text(text, rankToken)
		l.short(text, rankShort)
		l.decoded(text)
	}
	return k.hashes(l, maxActionMarks)
}

// text collects the literals of a text; tokens get the given rank.
func (l *literals) text(text string, rank int) {
	place := rank
	if rank == rankToken {
		place = rankPlace
	}
	for line := range strings.Lines(text) {
		for _, command := range commandsIn(line) {
			l.add(place, command)
		}
		l.packages(line)
		for _, piece := range pieces(line) {
			if l.full(place) && l.full(rank) {
				return
			}
			l.piece(piece, place, rank)
			for range maxValues { // the value of an option or a parameter
				_, value, ok := strings.Cut(piece, "=")
				if piece = value; !ok {
					break
				}
				l.piece(value, place, rank)
			}
		}
	}
}

// pieces are the parts of a line between spaces, quotes and brackets.
func pieces(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`<>()[]{}|;,\\", r) || r > 0x7f })
}

// piece collects the literals of a piece.
func (l *literals) piece(p string, place, token int) {
	p = strings.TrimRight(p, ".:!?*")
	for _, address := range addresses(p) {
		l.add(place, address)
	}
	if packageSpec(p) {
		l.add(place, p)
	}
	if !strings.HasPrefix(p, "-") && foreignPath(p) {
		l.add(place, p)
	}
	for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return strings.ContainsRune(":/?&#@%!$^~*=", r) }) {
		if part = strings.Trim(part, ".-_+"); rare(part) {
			l.add(token, part)
			l.pieces(part)
		}
	}
	if coded := strings.TrimRight(p[strings.LastIndexAny(p, ":?&@")+1:], "="); strings.ContainsAny(coded, "/+") && !strings.ContainsAny(coded, "._-~") && rare(strings.NewReplacer("/", "", "+", "").Replace(coded)) {
		l.add(token, coded) // base64, whose letters two of these are
		l.pieces(coded)
	}
}

// pieces collects what could be pieces of a secret.
func (l *literals) pieces(token string) {
	if !l.act || l.full(rankGram) {
		return
	}
	for _, g := range grams(token) {
		l.add(rankGram, g)
	}
}

// addresses are the parts of a piece that name a place in a network: the whole
// address without its scheme, the host, a mailbox.
func addresses(p string) []string {
	scheme, rest, ok := strings.Cut(p, "://")
	if !ok {
		rest = p
	}
	if i := strings.LastIndexAny(scheme, "=@+"); ok && i >= 0 && i+1 < len(scheme) {
		scheme = scheme[i+1:]
	}
	if lower(scheme) == "file" {
		return nil
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	user, host := "", authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, host = authority[:i], authority[i+1:]
	}
	host, _, _ = strings.Cut(host, ":")
	host = lower(strings.Trim(host, "."))
	if i := strings.LastIndexByte(host, '='); i >= 0 && !ok {
		host = host[i+1:]
	}
	if host == "" || loopback(host) || !hostName(host) && !(ok && strings.Contains(host, ".")) {
		return nil
	}
	list := []string{host}
	if tail != "" && tail != "/" {
		list = append(list, host+strings.TrimRight(tail, "/"))
	}
	if user = lower(user); !ok && user != "" && user != "git" && !strings.ContainsAny(user, "/:") {
		list = append(list, user[strings.LastIndexByte(user, '=')+1:]+"@"+host)
	}
	return list
}

// fileExts are endings of file names that could be taken for those of hosts.
const fileExts = wordlist(`go py js ts tsx jsx mjs cjs mts cts rb rs c h cc cpp hpp cs java kt kts swift php pl pm sh bash zsh fish ps1 bat cmd lua r jl ex exs erl hrl clj scala groovy dart vue svelte sql
	md mdx txt rst adoc html htm css scss sass less xml json jsonc json5 jsonl ndjson yaml yml toml ini cfg conf config env lock sum mod work log csv tsv parquet xlsx xls doc docx pdf ppt pptx odt png jpg jpeg gif svg ico webp bmp
	mp3 mp4 wav mov avi zip tar gz tgz bz2 xz zst rar 7z jar war ear whl egg gem deb rpm apk dmg iso exe dll so dylib a o obj lib bin dat db sqlite sqlite3 bak old orig tmp swp pid sock map snap wasm proto graphql gql
	tf tfvars tfstate hcl nix bzl bazel cmake mk make gradle properties plist pem key crt cer csr p12 pfx jks ipynb rmd tex bib patch diff tpl tmpl j2 ejs hbs pug min d m mm zig nim v vhd asm s el vim service socket timer rules editorconfig gitignore dockerignore npmrc`)

// copyExts end the names of files that are patterns for others, and of hosts that
// are examples.
const copyExts = wordlist(`example sample dist test spec`)

// hostName says that a word is the name of a host or an address, and not that of a
// file or of something in code: at least two labels, the last of letters.
func hostName(h string) bool {
	if ip := net.ParseIP(h); ip != nil {
		return !ip.IsLoopback() && !ip.IsUnspecified()
	}
	labels := strings.Split(lower(h), ".")
	if len(labels) < 2 || len(h) > 253 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	top := labels[len(labels)-1]
	return len(top) >= 2 && len(top) <= 18 && strings.Trim(top, "abcdefghijklmnopqrstuvwxyz") == "" && !fileExts.has(top) && (len(labels) > 2 || len(labels[0]) > 2 || len(h) >= 5) && h == lower(h)
}

// packageSpec knows name@version, @scope/name@version and git+https addresses.
func packageSpec(p string) bool {
	if strings.HasPrefix(p, "git+") {
		return true
	}
	i := strings.LastIndexByte(p, '@')
	if eq := strings.Index(p, "=="); i < 0 && eq > 1 && eq+2 < len(p) {
		i = eq + 1
	}
	if i < 2 || i+1 >= len(p) {
		return false
	}
	version := strings.TrimLeft(p[i+1:], "^~v")
	return version == "latest" || version == "next" || version != "" && digit(version[0]) && strings.Trim(version, "0123456789abcdefghijklmnopqrstuvwxyz.-+") == ""
}

// commonDirs hold what is the same on many machines.
var commonDirs = []string{"/tmp", "/var/tmp", "/private/tmp", "/dev", "/proc", "/sys", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt/homebrew"}

// foreignPath says that a piece is an absolute path, or one in a home directory,
// that is not the same everywhere. Relative paths are names of the workspace, or
// cannot be told from them.
func foreignPath(p string) bool {
	if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~/") || strings.Count(p, "/") < 2 && !strings.HasPrefix(p, "~/") || strings.HasPrefix(p, "//") {
		return false
	}
	return len(p) >= 6 && !slices.ContainsFunc(commonDirs, func(dir string) bool { return within(dir, p) })
}

// rare says that a token is not met by chance: it is long, and has digits
// among letters, or mixed cases that are no camel's, or several words.
func rare(t string) bool {
	if len(t) < longToken || len(t) > 512 || hostName(t) || fileName(t) {
		return false
	}
	n := digits(t)
	letters := len(t) - len(strings.Map(dropLetter, t))
	switch {
	case n > 0:
		return letters >= 2 && !dated(t) || n >= longWords
	case mixedCase(t):
		return true
	}
	return len(t) >= longWords && strings.Count(t, "-")+strings.Count(t, "_")+strings.Count(t, ".")+strings.Count(t, "+") >= 2
}

func dropLetter(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return -1
	}
	return r
}

// dated says that a token is a time or a version: hardly anything but digits.
func dated(t string) bool { return strings.Trim(t, "0123456789.-_+TZvVrcabe") == "" && !hexLike(t) }

func hexLike(t string) bool { return run(t, 0, len(t), hexChar) == len(t) }

// fileName says that a token ends as the names of files do.
func fileName(t string) bool {
	ext := path.Ext(t)
	return len(ext) > 1 && (fileExts.has(lower(ext[1:])) || copyExts.has(lower(ext[1:])))
}

// mixedCase says that upper and lower case alternate otherwise than in names
// that are put together of words.
func mixedCase(t string) bool {
	odd, camel := 0, 0
	for i := 1; i < len(t); i++ {
		upper, before := t[i] >= 'A' && t[i] <= 'Z', t[i-1] >= 'A' && t[i-1] <= 'Z'
		switch {
		case !upper:
		case before, i+1 < len(t) && !lowerLast(t[i+1:i+2]):
			odd++ // several in a row, or alone at the end of a word
		default:
			camel++
		}
	}
	return odd > 0 && camel > 1 && strings.ToUpper(t) != t || camel*3 > len(t)
}

// commandPrograms begin a line that tells somebody to run something.
const commandPrograms = wordlist(`curl wget bash sh zsh pip pip3 pipx uv uvx npm npx pnpm yarn bun bunx deno node python python3 ruby perl php gem cargo go brew apt apt-get yum dnf apk pacman snap choco winget
	git gh chmod chown rm sudo eval nc ncat ssh scp rsync docker podman kubectl helm terraform aws gcloud az iwr irm iex invoke-webrequest powershell pwsh make crontab base64 openssl dd mkfs psql mysql mongo redis-cli`)

// commandsIn are the commands in a line of text, white space made equal: the
// line itself, what stands in backquotes, and the parts between | and &&.
func commandsIn(line string) []string {
	var list []string
	for i, span := range strings.Split(line, "`") {
		if i == 0 || i%2 == 1 {
			list = appendCommands(list, span)
		}
	}
	return list
}

func appendCommands(list []string, text string) []string {
	words := strings.Fields(strings.TrimLeft(strings.TrimSpace(text), "$>#-*0123456789.) \t"))
	at := slices.IndexFunc(words, func(w string) bool { return commandPrograms.has(lower(w)) })
	if at < 0 || at > 0 && !strings.HasSuffix(words[at-1], ":") && !beforeCommand.has(lower(words[at-1])) {
		return list
	}
	start := at
	for i := at; i <= len(words); i++ {
		if i == len(words) || words[i] == "|" || words[i] == "&&" || words[i] == ";" || words[i] == "||" {
			list = appendCommand(list, words[start:i])
			start = i + 1
		}
	}
	return list
}

// beforeCommand are words before a command in a sentence, and goingOn those behind one.
const (
	beforeCommand = wordlist(`run runs running execute executing type try invoke call enter issue use then and please`)
	goingOn       = wordlist(`and then to in at before after for so which that with from on if or first now`)
)

// appendCommand adds a command, and what it is without the rest of a sentence.
func appendCommand(list []string, words []string) []string {
	if _, ok := installed(words); ok {
		return list // what is installed has marks of its own
	}
	end := slices.IndexFunc(words, func(w string) bool { return goingOn.has(w) })
	for _, n := range []int{len(words), end} {
		command := strings.Trim(strings.Join(words[:max(n, 0)], " "), "\"'.,;")
		if n > 1 && len(command) >= longToken && !slices.Contains(list, command) {
			list = append(list, command)
		}
	}
	return list
}

// installers are programs that fetch packages by name, and the words after them
// with which they do; runners fetch what they run.
var installers = map[string]wordlist{
	"npm": "install i add exec x", "pnpm": "install i add dlx", "yarn": "add dlx", "bun": "install i add x", "deno": "install add",
	"pip": "install", "pip3": "install", "uv": "add", "pipx": "install run", "poetry": "add", "pdm": "add", "conda": "install", "mamba": "install",
	"gem": "install", "cargo": "install add", "go": "get install", "brew": "install", "apt": "install", "apt-get": "install", "yum": "install", "dnf": "install",
	"apk": "add", "pacman": "-s", "snap": "install", "choco": "install", "winget": "install", "composer": "require", "dotnet": "add",
}

const (
	runners     = wordlist(`npx pnpx bunx uvx`)
	valuedFlags = wordlist(`-r -c -i -f -t -C -w --requirement --constraint --index-url --extra-index-url --registry --prefix --cwd --filter --workspace --target --find-links --source`)
)

// installed returns the packages that a command fetches, without their versions;
// ok says that it is a command that does.
func installed(words []string) (names []string, ok bool) {
	if len(words) > 2 && (lower(words[0]) == "uv" || strings.HasPrefix(lower(words[0]), "python")) && (words[1] == "pip" || words[1] == "-m" && words[2] == "pip") {
		words = words[slices.Index(words, "pip"):]
	}
	if len(words) < 2 {
		return nil, false
	}
	program := lower(words[0])
	rest := words[1:]
	if verbs := installers[program]; verbs != "" && verbs.has(lower(words[1])) {
		rest = words[2:]
	} else if !runners.has(program) {
		return nil, false
	}
	for i := 0; i < len(rest); i++ {
		switch w := strings.Trim(rest[i], "\"'`,;"); {
		case valuedFlags.has(w):
			i++
		case strings.HasPrefix(w, "-"):
		case goingOn.has(w) || w == "":
			return names, true
		default:
			if name := packageName(w); name != "" {
				names = append(names, name)
			}
			if runners.has(program) || strings.HasSuffix(w, ".") {
				return names, true
			}
		}
	}
	return names, true
}

// packageName is the name of a package as it stands in a command, in small
// letters and without its version; empty: it is a file, a folder or an address.
func packageName(w string) string {
	w = lower(strings.TrimRight(w, ".:!?"))
	if i := strings.LastIndexByte(w, '@'); i > 0 {
		w = w[:i]
	}
	if i := strings.IndexAny(w, "=<>~![;("); i > 0 {
		w = w[:i]
	}
	if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789-_./@") != "" || w[0] == '.' || w[0] == '/' || fileName(w) && !strings.HasSuffix(w, ".js") || w[0] != '@' && strings.Count(w, "/") == 1 {
		return ""
	}
	return w
}

// packages collects what a line of text has installed, in commands and sentences.
func (l *literals) packages(line string) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || r == '`' || r == '|' || r == '&' || r == '"' || r == '\'' })
	for i := range words {
		if low := lower(words[i]); installers[low] == "" && !runners.has(low) {
			continue
		}
		names, _ := installed(words[i:min(len(words), i+maxOperands)])
		for _, name := range names {
			l.add(rankPlace, packageLiteral+name)
		}
	}
}

// packageLiteral begins what stands for a package, and is met in no text.
const packageLiteral = "package\x00"

// maxOperands is how many words of a command are looked at for packages.
const maxOperands = 24

// short collects the words of an action that could be a short secret.
func (l *literals) short(text string, rank int) {
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`", r) }) {
		l.shortPart(p, rank)
		for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return strings.ContainsRune("=:&?@,;(){}[]<>|", r) }) {
			l.shortPart(part, rank)
		}
		if i := strings.IndexByte(p, '='); i >= 0 {
			l.shortPart(p[i+1:], rank)
		}
	}
}

func (l *literals) shortPart(p string, rank int) {
	p = strings.Trim(p, ".,;")
	if len(p) < secretValue || len(p) > 512 || strings.HasPrefix(p, "-") || strings.HasPrefix(p, "/") || hostName(lower(p)) || fileName(p) {
		return
	}
	if hasDigit(p) || strings.ToLower(p) != p && strings.ToUpper(p) != p || strings.ContainsAny(p, "!$%^&*+#@~") || rare(p) {
		l.add(rank, p)
	}
}

// decoded collects the literals of what a text holds in base64, hex, percent
// signs or backwards.
func (l *literals) decoded(text string) {
	for at := 0; at < len(text); {
		end := run(text, at, len(text), base64Char)
		l.decodedRun(text[at:end])
		at = end + 1
	}
	if plain, err := url.PathUnescape(text); err == nil && plain != text {
		l.hidden(plain, rankDecoded)
	} else if err != nil && strings.Contains(text, "%") {
		l.hidden(unescapeSome(text), rankDecoded)
	}
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`", r) }) {
		l.backwards(p)
		if parts := strings.FieldsFunc(p, func(r rune) bool { return r == '=' || r == '&' || r == ',' }); len(parts) > 1 {
			for _, part := range parts {
				l.backwards(part)
			}
		}
	}
}

// decodedRun decodes a run of characters of base64, and what stands between the
// slashes in it: it may be the path of an address.
func (l *literals) decodedRun(code string) {
	for _, plain := range decodings(code) {
		l.hidden(plain, rankDecoded)
	}
	if !strings.Contains(code, "/") {
		return
	}
	for part := range strings.SplitSeq(code, "/") {
		for _, plain := range decodings(part) {
			l.hidden(plain, rankDecoded)
		}
	}
}

func (l *literals) backwards(p string) {
	if len(p) >= secretValue && len(p) <= maxBackwards && !l.full(rankReversed) {
		l.hidden(reversed(p), rankReversed)
	}
}

// hidden collects what a decoded text holds.
func (l *literals) hidden(plain string, rank int) {
	l.text(plain, rank)
	l.short(plain, rank)
}

// decodings reads a run of characters as base64 and as hex, with and without
// what stands before an = in it.
func decodings(code string) []string {
	var out []string
	bare := strings.TrimRight(code, "=")
	if i := strings.LastIndexByte(bare, '='); i >= 0 {
		bare = bare[i+1:]
	}
	if len(bare) < secretValue || len(bare) > maxMarked {
		return nil
	}
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if b, err := decode(bare); err == nil && len(b) >= secretValue-2 && printed(b) && !slices.Contains(out, string(b)) {
			out = append(out, string(b))
		}
	}
	return out
}

// unescapeSome reads the percent signs of a text that has others too.
func unescapeSome(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && hexChar(text[i+1]) && hexChar(text[i+2]) {
			if c, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// marker returns what makes marks for a session in a workspace.
func (c *Classifier) marker(workspace string) *marker {
	looks := maxLooks
	return &marker{mac: c.MAC, known: func(s string) bool {
		if workspace != "" && (within(workspace, s) || s == path.Base(workspace) || strings.Contains("/"+workspace+"/", "/"+s+"/")) {
			return true
		}
		if workspace == "" || c.World.Lstat == nil || strings.ContainsAny(s, " \x00@:") || strings.HasPrefix(s, "~") || len(s) > 255 || strings.HasPrefix(s, "/") || looks <= 0 {
			return false
		}
		looks--
		_, err := c.World.Lstat(workspace + "/" + s)
		return err == nil
	}}
}

// markedTexts are the raw texts of a call: first what says what is done, then
// contents.
func markedTexts(r *reading) []string {
	var short, long []string
	for _, name := range sortedKeys(r.args) {
		texts := appendTexts(nil, r.args[name])
		if _, content := r.contents[name]; content || slices.Contains(r.tool.contents, name) {
			long = append(long, texts...)
		} else {
			short = append(short, texts...)
		}
	}
	return append(short, long...)
}

// asksForSecret says that a store is asked for a secret, or the environment for a
// variable whose name says that it is one.
func asksForSecret(a *engine.Action) bool {
	return a != nil && (slices.Contains(a.Signals, engine.SignalCredential) || slices.ContainsFunc(a.Commands, func(c engine.Command) bool {
		return c.Name == "printenv" && slices.ContainsFunc(c.Operands, namesSecret)
	}))
}

// readsSecrets says that a file with secrets is read, so that what comes out is
// one.
func readsSecrets(a *engine.Action) bool {
	return a != nil && slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
		return e.Kind == engine.EffectFileRead && (e.Class == engine.ClassCredential || e.Class == engine.ClassEnvFile)
	})
}
