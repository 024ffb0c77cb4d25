package mask

import (
	"strings"
)

// readers are programs that read a secret from their input.
var readers = []struct {
	command string
	after   string // what is between the user and the password
}{
	{"--password-stdin", ""}, {"sudo -S", ""}, {"chpasswd", ":"}, {"passwd --stdin", ""}, {"--passphrase-fd 0", ""}, {"-pass stdin", ""}, {"cryptsetup ", ""},
	{"--with-token", ""}, {"gh secret set", ""}, {"vercel env add", ""}, {"wrangler secret put", ""}, {"docker secret create", ""}, {"podman secret create", ""},
	{"gcloud secrets ", ""}, {"functions:secrets:set", ""}, {"secret-tool store", ""}, {"pass insert", ""}, {"vault login -", ""},
	{"op signin", ""}, {"bw unlock", ""}, {"bw login", ""}, {"rclone obscure -", ""}, {"gh auth login", ""}, {"npm login", ""}, {"kinit ", ""}, {"smbpasswd -s", ""}, {"su -c", ""},
}

// appendPiped finds passwords that echo, printf or a here-string passes to a program:
// echo x | docker login --password-stdin, sudo -S true <<< x.
func appendPiped(found []span, s string) []span {
	echoed := strings.IndexByte(s, '|') >= 0 && (strings.Contains(s, "echo ") || strings.Contains(s, "printf "))
	if !echoed && !strings.Contains(s, "<<<") {
		return found
	}
	for _, r := range readers {
		for from := 0; ; {
			i := strings.Index(s[from:], r.command)
			if i < 0 {
				break
			}
			i += from
			from = i + len(r.command)
			for _, read := range []func(string, int) (assignment, bool){piped, fed} {
				a, ok := read(s, i)
				if ok && r.after != "" {
					a, ok = a.after(r.after)
				}
				if ok && len(a.value) >= 3 && !placeholder(a.value) {
					found = append(found, span{a.start, a.end, "password"})
				}
			}
		}
	}
	return found
}

// fed reads the here-string of the command at i.
func fed(s string, i int) (assignment, bool) {
	end := commandEnd(s, i+1)
	at := strings.Index(s[i:end], "<<<")
	if at < 0 {
		return assignment{}, false
	}
	return assignment{}.readValue(s[:end], Run(s, i+at+len("<<<"), end, Blank))
}

// piped reads the last word of the echo whose output the command at i reads.
func piped(s string, i int) (assignment, bool) {
	from := max(0, i-judged)
	line := s[from+strings.LastIndexAny(s[from:i], "\n;&")+1 : i]
	source, _, ok := cutLast(line, '|')
	echo := max(strings.LastIndex(source, "echo "), strings.LastIndex(source, "printf "))
	if !ok || echo < 0 {
		return assignment{}, false
	}
	source = strings.TrimRight(source, " ")
	begin := i - len(line) + echo + strings.IndexByte(source[echo:], ' ') + 1
	end := i - len(line) + len(source)
	for {
		begin = Run(s, begin, end, Blank)
		a, ok := assignment{}.readValue(s, begin)
		if !ok {
			return a, false
		}
		next := a.end
		if a.quoted {
			next++
		}
		if next >= end || begin >= end {
			return a, begin < end
		}
		begin = next
	}
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
