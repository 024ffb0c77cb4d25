package mask

import (
	"strings"
)

// appendManifests finds the values of Kubernetes secrets, which are recognised by the
// kind of the document, not by their names.
func appendManifests(found []span, t scanned) []span {
	for from := 0; ; {
		i := strings.Index(t.low[from:], "kind: secret\n")
		if i < 0 {
			return found
		}
		i += from
		begin := max(0, strings.LastIndex(t.low[:i], "\n---"))
		end := len(t.low)
		if j := strings.Index(t.low[i:], "\n---"); j >= 0 {
			end = i + j
		}
		found = appendData(found, t, begin, end)
		from = end
	}
}

// appendData finds the values below data: and stringData: of one document.
func appendData(found []span, t scanned, begin, end int) []span {
	indent := -1 // of the block that is read; -1: none
	for at := begin; at < end; {
		eol := at + 1
		for eol < end && t.raw[eol] != '\n' {
			eol++
		}
		line := strings.TrimLeft(t.low[at:eol], "\n")
		start := eol - len(line)
		in := Run(line, 0, len(line), Blank)
		name, value, ok := strings.Cut(line[in:], ":")
		switch {
		case name == "data" || name == "stringdata":
			indent = in
		case in <= indent && strings.TrimSpace(line) != "":
			indent = -1
		case indent >= 0 && ok && strings.TrimSpace(value) != "":
			found = appendDatum(found, t.raw, start+in+len(name)+1, eol)
		}
		at = eol
	}
	return found
}

func appendDatum(found []span, s string, i, eol int) []span {
	i = Run(s, i, eol, Blank)
	a, ok := assignment{}.readValue(s[:eol], i)
	if !ok || len(a.value) < 4 || reference(a.value) {
		return found
	}
	return append(found, span{a.start, a.end, "kubernetes_secret"})
}

// appendLines finds the secrets of files whose lines have no names: the
// passwords of .pgpass and the logins of Docker's configuration.
func appendLines(found []span, s string) []span {
	for _, port := range []string{":5432:", ":5433:", ":6432:"} {
		found = appendPgpass(found, s, port)
	}
	return appendRegistryLogins(found, s)
}

// appendPgpass finds host:port:database:user:password.
func appendPgpass(found []span, s, port string) []span {
	for from := 0; ; {
		i := strings.Index(s[from:], port)
		if i < 0 {
			return found
		}
		from += i + len(port)
		end := Run(s, from, min(len(s), from+judged), func(c byte) bool { return strings.IndexByte(" \t\r\n\"'`\\", c) < 0 })
		parts := strings.SplitN(s[from:end], ":", 3)
		if len(parts) == 3 && len(parts[2]) >= 4 && !reference(parts[2]) {
			found = append(found, span{end - len(parts[2]), end, "password"})
		}
	}
}

// appendRegistryLogins finds "auth": "base64 of user:password".
func appendRegistryLogins(found []span, s string) []span {
	for from := 0; ; {
		i := strings.Index(s[from:], `auth`)
		if i < 0 {
			return found
		}
		from += i + len(`auth`)
		begin := headerValue(s, from)
		if begin < 0 {
			continue
		}
		end := Run(s, begin, min(len(s), begin+judged), Base64Char)
		if end-begin >= 8 && login(s[begin:end]) {
			found = append(found, span{begin, end, "registry_login"})
		}
	}
}
