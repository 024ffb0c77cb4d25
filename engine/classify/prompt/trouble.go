package prompt

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// WithoutTags drops markup around an error, such as <tool_use_error>.
func WithoutTags(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			break
		}
		j := strings.IndexByte(s[i:min(len(s), i+maxTag)], '>')
		if j < 0 {
			b.WriteString(s[:i+1])
			s = s[i+1:]
			continue
		}
		b.WriteString(s[:i] + " ")
		s = s[i+j+1:]
	}
	b.WriteString(s)
	return b.String()
}

// maxTag bounds what counts as markup, in bytes.
const maxTag = 40

// maxTrouble is how much of an error is looked at from either end, in bytes:
// the error itself stands at the beginning or, behind what went well, at the end.
const maxTrouble = 4 << 10

// troubles are the words of tools for the kinds of errors, in the order in
// which kinds are looked for: what says more exactly what is wrong comes first.
// Words are in lower case; a number in them stands alone (see saysOnce).
var troubles = []struct {
	kind  engine.Trouble
	words []string
}{
	{engine.TroubleRate, []string{
		"too many requests", "rate limit", "ratelimit", "rate-limit", "http 429", "status 429", "error 429", "status code 429", "status code: 429", "429 client error", "e429", "toomanyrequests",
		"throttlingexception", "throttled", "rate exceeded", "requestlimitexceeded", "slow down", "slowdown", "resource_exhausted", "quota exceeded", "insufficient_quota", "secondary rate",
	}},
	{engine.TroubleCommand, []string{
		"command not found", "is not recognized as an internal or external command", "is not recognized as the name of a cmdlet", "is not recognized as a name of a cmdlet", "commandnotfoundexception",
		"executable file not found in", "unknown command: ", ": not found\n", "no such program", "could not find command", "exec: \"", "spawn enoent", "executable not found",
	}},
	{engine.TroubleAuth, []string{
		"unauthorized", "not authorized", "unauthenticated", "authentication failed", "authentication required", "authentication error", "authenticationerror", "authorization failed", "authorization required", "forbidden",
		"permission denied (publickey", "permission denied, please try again", "could not read username", "could not read password", "invalid credentials", "bad credentials", "invalid username or password", "invalid username or token", "incorrect username or password",
		"no credentials", "unable to locate credentials", "could not load credentials", "credentials have expired", "expired credentials", "expiredtoken", "token has expired", "token is expired", "token expired", "expired token", "jwt expired",
		"invalid token", "invalid api key", "invalid_api_key", "incorrect api key", "invalid_grant", "invalid_client", "invalidclienttokenid", "signaturedoesnotmatch", "unrecognizedclientexception", "accessdenied", "access denied for user", "access denied to", "(access denied)", "an error occurred (accessdenied", "requested access to the resource is denied",
		"password authentication failed", "no password supplied", "login required", "please log in", "please login", "not logged in", "you must be logged in", "need to be logged in", "you need to authenticate", "please run 'az login'", "gh auth login", "eneedauth", "e401", "e403", "error 401", "error 403", "error: 401", "error: 403", "status 401", "status 403",
		"http 401", "http 403", "http/1.1 401", "http/1.1 403", "http/2 401", "http/2 403", "status code 401", "status code 403", "status code: 401", "status code: 403", "returned error: 401", "returned error: 403", "401 client error", "403 client error", "insufficient permission", "insufficientprivileges", "insufficient privilege", "does not have permission", "do not have permission", "permission_denied",
		"permission denied for table", "permission denied for schema", "permission denied for relation", "permission denied for database", "must be owner of", "host key verification failed", "denied to deploy key", "write access to repository not granted", "remote: permission to", "repository access denied", "forbidden by policy", "user cannot",
	}},
	{engine.TroubleImport, []string{
		"modulenotfounderror", "no module named", "importerror", "cannot import name", "cannot find module", "cannot find package", "err_module_not_found", "module not found", "can't resolve '", "could not resolve \"", "failed to resolve import", "unresolved import", "no required module provides package",
		"is not in std", "package does not exist", "could not find or load main class", "classnotfoundexception", "noclassdeffounderror", "cannot load such file", "class not found", "unable to load dynamic library", "cannot open shared object file", "error while loading shared libraries", "library not found for",
		"undefined reference to", "unresolved external symbol", "can't find crate", "use of undeclared crate", "missing go.sum entry", "error ts2307", "ts2307", "there is no package called", "can't locate ", "could not find a declaration file",
	}},
	{engine.TroubleSyntax, []string{
		"syntaxerror", "syntax error", "indentationerror", "taberror", "parse error", "parseerror", "parsing error", "unexpected token", "unexpected end of", "unexpected eof", "unexpected identifier", "unterminated string", "unterminated quoted", "unexpected indent", "invalid syntax", "error parsing", "could not parse", "failed to parse", "unable to parse", "cannot parse",
		"json.decoder.jsondecodeerror", "jsondecodeerror", "expecting value: line", "expecting property name", "invalid character '", "yaml: line", "yamlexception", "mapping values are not allowed", "scannererror", "parsererror", "toml parse", "invalid toml", "unbalanced parenthes", "unmatched '", "missing terminating", "expected ';'", "expected '}'", "expected declaration", "expected expression",
		"malformed", "not valid json", "is not valid yaml", "not well-formed", "parse failed", "missing separator", "invalid hcl", "argument or block definition required", "here-document at line", "unexpected newline",
	}},
	{engine.TroubleUsage, []string{
		"unknown option", "unrecognized option", "unrecognised option", "invalid option", "illegal option", "no such option", "unknown flag", "unknown shorthand flag", "flag provided but not defined", "unrecognized argument", "unrecognized arguments", "unexpected argument", "unknown argument", "invalid argument '", "unknown subcommand", "unrecognized subcommand", "no such subcommand", "no such command",
		"unknown command", "is not a git command", "is not a docker command", "invalid choice", "invalid subcommand", "the following arguments are required", "required argument", "missing required argument", "requires at least", "requires exactly", "accepts at most", "accepts between", "missing required flag", "required flag", "requires an argument", "option requires", "missing operand", "missing argument", "too many arguments", "too few arguments", "not enough arguments", "extra operand",
		"unknown switch", "ambiguous option", "missing script", "parameter cannot be found that matches parameter name", "namedparameternotfound", "missing mandatory parameter", "usage: ", "invalid parameter", "inputvalidationerror",
	}},
	{engine.TroubleTime, []string{
		"timed out", "time out", "timeout exceeded", "timeout expired", "timeouterror", "timeout after", "timeout of ", "deadline exceeded", "deadline_exceeded", "deadlineexceeded", "etimedout", "esockettimedout", "gateway timeout", "gateway time-out", "request timeout", "lock wait timeout", "statement timeout", "canceling statement due to", "operation too slow", "read timeout", "connect timeout", "i/o timeout",
	}},
	{engine.TroubleNetwork, []string{
		"connection refused", "econnrefused", "connection reset", "econnreset", "could not resolve host", "could not resolve hostname", "name or service not known", "temporary failure in name resolution", "enotfound", "eai_again", "getaddrinfo", "no such host", "network is unreachable", "enetunreach", "ehostunreach", "no route to host", "host is unreachable", "host is down",
		"failed to connect", "couldn't connect", "could not connect", "unable to connect", "can't connect to", "cannot connect to the docker daemon", "connection error", "connectionerror", "connection closed", "connection aborted", "connection broken", "remote end closed", "socket hang up", "fetch failed", "network error", "networkerror", "newconnectionerror", "max retries exceeded", "ssl certificate problem", "certificate verify failed", "certificate has expired",
		"self signed certificate", "self-signed certificate", "x509: certificate", "tls handshake", "sslerror", "ssl_error", "bad gateway", "502 bad", "503 service", "service unavailable", "temporarily unavailable", "broken pipe", "epipe", "kex_exchange_identification", "the remote name could not be resolved", "nxdomain", "server misbehaving", "is the server running",
	}},
	{engine.TroubleDenied, []string{
		"permission denied", "operation not permitted", "eacces", "eperm", "access is denied", "access to the path", "permissionerror", "unauthorizedaccessexception", "read-only file system", "erofs", "requires root", "must be root", "must be run as root", "are you root", "superuser", "insufficient access", "not in the sudoers file", "sudo: a password is required", "sudo: a terminal is required",
	}},
	{engine.TroubleMissing, []string{
		"no such file or directory", "no such file", "enoent", "filenotfounderror", "filenotfoundexception", "file not found", "file does not exist", "files do not exist", "does not exist", "n't exist", "cannot find the file", "cannot find the path", "cannot find path", "itemnotfoundexception", "no such directory", "not a directory", "path not found", "could not find", "couldn't find", "cannot find", "can't find", "no matching distribution", "no matches found",
		"did not match any file", "unable to locate package", "not found in registry", "is not in this registry", "is not in the npm registry", "e404", "404 not found", "http 404", "status 404", "error: 404", "returned error: 404", "status code 404", "404 client error", "(notfound)", "nosuchkey", "nosuchbucket", "resourcenotfoundexception", "no such container", "no such image", "no such object", "no such service", "no such table", "no such column", "unknown database", "unknown table", "unknown revision", "no such ref", "bad revision",
		"repository not found", "not a git repository", "no rule to make target", "no targets specified", "no such remote", "no tests ran", "nothing to commit", "manifest unknown", "not found", "pathspec", "undefined table", "no such process", "no such device", "no such user", "has no installation candidate", "no package", "notfound",
	}},
}

// checkSigns are how tests, linters and their kin say no.
var checkSigns = []string{
	"--- fail", "fail\t", "failed (", "failures=", " failed,", " failed in ", " failed\n", "tests failed", "test failed", "tests: ", "test suites:", " failing", "assertionerror", "assertion failed", "expected:", "expected ", "failures:", "failed tests", "problems (", "problem (", "error ts", "would reformat", "found 1 error", " errors in ", "error(s)", "lint", "issues found", "issues:", "not formatted", "code style issues", "test result: failed", "there are test failures", "there was 1 failure", "there were failures", "examples, ", "not ok ", "vet: ", "warning: ", "[fail]", "✖", "✗", "✕", "×",
}

// TroubleOf says what kind of error a text reports; check: the call looks
// whether the work is good, so that its failure is most likely what it found.
func TroubleOf(text string, check bool) engine.Trouble {
	text, code := exitCode(text)
	text = mask.Lower(ends(text, maxTrouble)) + "\n"
	if code == 127 || code == 9009 {
		return engine.TroubleCommand
	}
	kind := worded(text)
	if check && (kind == "" || says(text, checkSigns) || kind == engine.TroubleMissing && code == 1) && kind != engine.TroubleCommand {
		return engine.TroubleCheck
	}
	switch {
	case kind != "":
		return kind
	case code == 126:
		return engine.TroubleDenied
	case code == 124:
		return engine.TroubleTime
	}
	return ""
}

// worded looks for the words of an error.
func worded(text string) engine.Trouble {
	for _, t := range troubles {
		if says(text, t.words) {
			return t.kind
		}
	}
	return ""
}

func says(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return saysOnce(text, p) })
}

// saysOnce says that a text holds a phrase that is no part of a longer number or
// word at the end at which it has a digit: "error 401", not "error 4013".
func saysOnce(text, p string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], p)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(p)
		before := start > 0 && mask.Digit(p[0]) && mask.Alnum(text[start-1])
		after := end < len(text) && mask.Digit(p[len(p)-1]) && mask.Alnum(text[end])
		if !before && !after && !(start > 0 && mask.Alnum(p[0]) && mask.Alnum(text[start-1]) && len(p) <= 10 && !strings.Contains(p, " ")) {
			return true
		}
		from = start + 1
	}
}

// exitCode takes "Exit code N" off an error; -1: it does not begin so.
func exitCode(text string) (rest string, code int) {
	line, rest, _ := strings.Cut(text, "\n")
	low := mask.Lower(strings.TrimSpace(line))
	for _, lead := range []string{"exit code ", "error: exit code ", "command failed with exit code "} {
		if n, ok := strings.CutPrefix(low, lead); ok {
			number := n[:mask.Run(n, 0, len(n), mask.Digit)]
			if code, err := strconv.Atoi(number); err == nil {
				return strings.TrimSpace(line)[len(lead)+len(number):] + "\n" + rest, code
			}
		}
	}
	return text, -1
}

// ends are the beginning and the end of a text, at most n bytes of each.
func ends(text string, n int) string {
	if len(text) <= 2*n {
		return text
	}
	tail := text[len(text)-n:]
	for len(tail) > 0 && tail[0]&0xC0 == 0x80 {
		tail = tail[1:]
	}
	return abstract.Clip(text, n) + "\n" + tail
}
