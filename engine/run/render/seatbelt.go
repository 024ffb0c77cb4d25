package render

import (
	"fmt"
	"strings"
)

// Seatbelt writes a profile of Seatbelt, for sandbox-exec of macOS. Of several rules that apply, the last one counts.
// Nothing was tried on macOS.
func Seatbelt(b Box) string {
	var s strings.Builder
	s.WriteString("(version 1)\n(deny default)\n(allow process-fork process-exec*)\n(allow signal (target same-sandbox))\n" +
		"(allow sysctl-read)\n(allow file-read-metadata)\n(allow file-ioctl (subpath \"/dev\"))\n")
	rule := func(what string, paths []string) {
		if len(paths) == 0 {
			return
		}
		fmt.Fprintf(&s, "(%s", what)
		for _, path := range paths {
			fmt.Fprintf(&s, "\n  (subpath %s)", scheme(path))
		}
		s.WriteString(")\n")
	}
	rule("allow file-read* file-map-executable", sorted(b.Plan.Read))
	rule("allow file-read* file-write* file-map-executable", sorted(b.Plan.Write))
	rule("allow file-read* file-write-data", sorted(b.Plan.Devices))
	rule("deny file-read* file-write*", b.visible())
	rule("deny file-read* file-write* network-outbound", sorted(b.Plan.Masked))
	rule("deny file-write*", sorted(b.Plan.Protected))
	for _, path := range b.Plan.Pinned {
		fmt.Fprintf(&s, "(deny file-write-unlink (literal %s))\n", scheme(path))
	}
	s.WriteString("(deny network*)\n")
	return s.String()
}

// scheme writes a text as SBPL has it.
func scheme(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
