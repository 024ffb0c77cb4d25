package abstract

import "strings"

// IsRemote reports whether a path is written as host:path or as a URL.
func IsRemote(a Arg) bool {
	colon := strings.IndexByte(a.Text, ':')
	slash := strings.IndexByte(a.Text, '/')
	drive := colon == 1 && strings.HasPrefix(a.Text[2:], `\`)
	return colon > 0 && !drive && (slash < 0 || slash > colon) || IsURL(a)
}

// RemoteHost returns the host of user@host:path or of a URL.
func RemoteHost(a Arg) Arg {
	if IsURL(a) {
		return a
	}
	host, _, _ := strings.Cut(a.Text, ":")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	return a.With(host)
}
