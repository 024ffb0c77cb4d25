package marks

import (
	_ "embed" // tops.txt
	"net/netip"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/agent-reviewer/reviewer/engine/classify/mask"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// addresses returns the parts of a piece that name a place in a network: the whole address
// without its scheme, the host, a mailbox.
func addresses(p string) []string {
	if strings.IndexByte(p, '.') < 0 {
		return nil // every host below has a dot
	}
	scheme, rest, ok := strings.Cut(p, "://")
	if !ok {
		rest = p
	}
	if i := strings.LastIndexAny(scheme, "=@+"); ok && i >= 0 && i+1 < len(scheme) {
		scheme = scheme[i+1:]
	}
	if mask.Lower(scheme) == "file" {
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
	if !ok && tail == "" && user == "" && member(host) {
		return nil
	}
	host = mask.Lower(strings.Trim(host, "."))
	if i := strings.LastIndexByte(host, '='); i >= 0 && !ok {
		host = host[i+1:]
	}
	if host == "" || place.Loopback(host) || !HostName(host) && !(ok && strings.Contains(host, ".")) {
		return nil
	}
	list := []string{host}
	if tail != "" && tail != "/" {
		list = append(list, host+strings.TrimRight(tail, "/"))
	}
	if user = mask.Lower(user); !ok && user != "" && user != "git" && !strings.ContainsAny(user, "/:") {
		list = append(list, user[strings.LastIndexByte(user, '=')+1:]+"@"+host)
	}
	return list
}

// member reports whether a word looks like a member of an object in code, and not like a host:
// strings.Builder, Console.WriteLine.
func member(word string) bool {
	last := word[strings.LastIndexByte(word, '.')+1:]
	return last != mask.Lower(last) && last != strings.ToUpper(last)
}

// fileExts are extensions of file names that could be mistaken for top-level domains.
var fileExts = []string{"go", "py", "js", "ts", "tsx", "jsx", "mjs", "cjs", "mts", "cts", "rb", "rs", "c", "h", "cc", "cpp",
	"hpp", "cs", "java", "kt", "kts", "swift", "php", "pl", "pm", "sh", "bash", "zsh", "fish", "ps1", "bat", "cmd", "lua", "r",
	"jl", "ex", "exs", "erl", "hrl", "clj", "scala", "groovy", "dart", "vue", "svelte", "sql", "md", "mdx", "txt", "rst", "adoc",
	"html", "htm", "css", "scss", "sass", "less", "xml", "json", "jsonc", "json5", "jsonl", "ndjson", "yaml", "yml", "toml",
	"ini", "cfg", "conf", "config", "env", "lock", "sum", "mod", "work", "log", "csv", "tsv", "parquet", "xlsx", "xls", "doc",
	"docx", "pdf", "ppt", "pptx", "odt", "png", "jpg", "jpeg", "gif", "svg", "ico", "webp", "bmp", "mp3", "mp4", "wav", "mov",
	"avi", "zip", "tar", "gz", "tgz", "bz2", "xz", "zst", "rar", "7z", "jar", "war", "ear", "whl", "egg", "gem", "deb", "rpm",
	"apk", "dmg", "iso", "exe", "dll", "so", "dylib", "a", "o", "obj", "lib", "bin", "dat", "db", "sqlite", "sqlite3", "bak",
	"old", "orig", "tmp", "swp", "pid", "sock", "map", "snap", "wasm", "proto", "graphql", "gql", "tf", "tfvars", "tfstate",
	"hcl", "nix", "bzl", "bazel", "cmake", "mk", "make", "gradle", "properties", "plist", "pem", "key", "crt", "cer", "csr",
	"p12", "pfx", "jks", "ipynb", "rmd", "tex", "bib", "patch", "diff", "tpl", "tmpl", "j2", "ejs", "hbs", "pug", "min", "d", "m",
	"mm", "zig", "nim", "v", "vhd", "asm", "s", "el", "vim", "service", "socket", "timer", "rules", "editorconfig", "gitignore",
	"dockerignore", "npmrc"}

// copyExts end the names of template files, and of example hosts.
var copyExts = []string{"example", "sample", "dist", "test", "spec"}

// HostName reports whether a word is the name of a host or an address, and not of a file or of
// something in code: at least two labels, the last of letters.
func HostName(h string) bool {
	if strings.IndexByte(h, '.') < 0 && strings.IndexByte(h, ':') < 0 {
		return false // the answer for most words, at the least cost
	}
	if ip, err := netip.ParseAddr(h); err == nil {
		return !ip.Unmap().IsLoopback() && !ip.Unmap().IsUnspecified()
	}
	labels := strings.Split(mask.Lower(h), ".")
	if len(labels) < 2 || len(h) > 253 {
		return false
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
	}
	top := labels[len(labels)-1]
	return topLevel(top) && !slices.Contains(fileExts, top) &&
		(len(labels) > 2 || len(labels[0]) > 2 || len(h) >= 5) && h == mask.Lower(h)
}

// localTops are top-level domains that no registry assigns: those of private networks, and
// those reserved for examples.
var localTops = []string{"internal", "intranet", "local", "localdomain", "lan", "home", "corp", "private", "onion",
	"example", "test", "invalid"}

// topLevel reports whether names of hosts end in this label, and not only members of objects
// in code, such as console.error.
func topLevel(top string) bool {
	return registeredTops()[top] || slices.Contains(localTops, top)
}

// registeredTops is the set of tops.
var registeredTops = sync.OnceValue(func() map[string]bool { return setOf(strings.Split(strings.Trim(tops, "\n"), "\n")) })

func setOf(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// tops are the top-level domains in Latin letters, one per line (source: the root zone of
// 2026, as in the public suffix list).
//
//go:embed tops.txt
var tops string

// packageSpec recognises name@version, @scope/name@version and git+https addresses.
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
	return version == "latest" || version == "next" || version != "" && mask.Digit(version[0]) &&
		strings.Trim(version, "0123456789abcdefghijklmnopqrstuvwxyz.-+") == ""
}

// commonDirs are directories with the same files on many machines.
var commonDirs = []string{"/tmp", "/var/tmp", "/private/tmp", "/dev", "/proc", "/sys", "/usr", "/bin", "/sbin", "/lib",
	"/lib64", "/opt/homebrew"}

// foreignPath reports whether a piece is an absolute path, or one in a home directory, that
// differs between machines. Relative paths are names of the workspace, or cannot be
// distinguished from them.
func foreignPath(p string) bool {
	if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~/") || strings.Count(p, "/") < 2 && !strings.HasPrefix(p, "~/") ||
		strings.HasPrefix(p, "//") {
		return false
	}
	return len(p) >= 6 && !slices.ContainsFunc(commonDirs, func(dir string) bool { return place.Within(dir, p) })
}

// rare reports whether a token is unlikely to occur by chance: it is long and has digits among
// letters, mixed case that is not camel case, or several words.
func rare(t string) bool {
	if len(t) < longToken || len(t) > 512 || HostName(t) || FileName(t) {
		return false
	}
	n := mask.Digits(t)
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

// dated reports whether a token is a time or a version: almost only digits.
func dated(t string) bool { return strings.Trim(t, "0123456789.-_+TZvVrcabe") == "" && !hexLike(t) }

func hexLike(t string) bool { return mask.Run(t, 0, len(t), mask.HexChar) == len(t) }

// FileName reports whether a token ends like a file name.
func FileName(t string) bool {
	ext := path.Ext(t)
	return len(ext) > 1 && knownExts()[mask.Lower(ext[1:])]
}

// knownExts is the set of fileExts and copyExts.
var knownExts = sync.OnceValue(func() map[string]bool { return setOf(slices.Concat(fileExts, copyExts)) })

// mixedCase reports whether upper and lower case alternate in a way that differs from names
// built from words.
func mixedCase(t string) bool {
	odd, camel := 0, 0
	for i := 1; i < len(t); i++ {
		upper, before := t[i] >= 'A' && t[i] <= 'Z', t[i-1] >= 'A' && t[i-1] <= 'Z'
		switch {
		case !upper:
		case before, i+1 < len(t) && !place.LowerLast(t[i+1:i+2]):
			odd++ // several in a row, or alone at the end of a word
		default:
			camel++
		}
	}
	return odd > 0 && camel > 1 && strings.ToUpper(t) != t || camel*3 > len(t)
}
