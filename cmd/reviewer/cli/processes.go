package cli

import "strings"

// commandLine writes the words of a Windows command as on other systems: programs with
// slashes and without .exe, and no word with a space in it.
func commandLine(words []string) string {
	var line []string
	for i, w := range words {
		if w = strings.ReplaceAll(w, " ", "_"); i < 2 {
			w = strings.ReplaceAll(w, `\`, "/")
		}
		if i == 0 {
			w = strings.ToLower(w)
			for _, ext := range []string{".exe", ".cmd", ".bat", ".com"} {
				w = strings.TrimSuffix(w, ext)
			}
		}
		line = append(line, w)
	}
	return strings.Join(line, " ")
}
