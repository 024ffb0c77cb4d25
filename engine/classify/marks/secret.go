package marks

import (
	"net/url"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// secrets collects the values in a line of a file with secrets.
func (l *literals) secrets(line string) {
	for _, v := range secretValues(line) {
		l.secret(v)
	}
}

// secret collects a secret, and pieces of it. Names of hosts have no case, so it counts in lower case too.
func (l *literals) secret(v string) {
	l.add(rankToken, v)
	l.add(rankToken, mask.Lower(v))
	for _, g := range grams(v) {
		l.add(rankGram, g)
	}
}

// Pieces of secrets: any gramSize+gramWindow-1 characters in common are noticed.
const (
	gramSize   = 10
	gramWindow = 3
	maxGrams   = 24 // of one string
)

// grams selects pieces of a string that looks random, so that two texts with twelve consecutive
// characters in common share a piece: of each three adjacent pieces the one with the lowest
// hash.
func grams(s string) []string {
	if !Dense(s) {
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

// Dense reports whether a string looks random instead of being a word or a list of words.
func Dense(s string) bool {
	return len(s) >= longToken && mask.HasDigit(s) && strings.Map(dropLetter, s) != s && !strings.ContainsAny(s, " \t") && !plainWords(s)
}

// plainWords reports whether a string consists of words and numbers, like the names of regions,
// models and versions: eu-central-1, 300ms, v1.2.3-beta.
func plainWords(s string) bool {
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune("-_./:@,+ ", r) }) {
		letters := strings.Trim(part, "0123456789")
		ends := len(part) - len(letters)
		if mask.HasDigit(letters) || letters != "" && (ends > 4 && len(letters) > 2 || ends > 8) || mixedCase(letters) {
			return false
		}
	}
	return true
}

// NamesSecret reports whether a value assigned to a name is a secret, regardless of the value.
func NamesSecret(name string) bool {
	low := strings.ToLower(name)
	return strings.Contains(low, "pass") ||
		slices.ContainsFunc(mask.Keywords, func(k mask.Keyword) bool { return strings.Contains(low, k.Word) })
}

// secretValues returns the values in a line of a file with secrets: the text after = or :, or
// the line itself if it is one long token, and passwords in addresses. If the name does not
// indicate a secret, only a value that looks like one counts.
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
	if len(value) < secretValue || mask.Placeholder(value) && !Dense(value) || plainWords(value) && !NamesSecret(name) ||
		strings.Trim(value, "0123456789.") == "" && len(value) < longToken ||
		HostName(value) || strings.ContainsAny(value, " \t") && value == line {
		return nil
	}
	return []string{value}
}

// AsksForSecret reports whether a secret store is queried for a secret, or the environment for
// a variable whose name indicates one.
func AsksForSecret(a *engine.Action) bool {
	return a != nil && (slices.Contains(a.Signals, engine.SignalCredential) || slices.ContainsFunc(a.Commands, func(c engine.Command) bool {
		return c.Name == "printenv" && slices.ContainsFunc(c.Operands, NamesSecret)
	}))
}

// ReadsSecrets reports whether a file with secrets is read, so that the output is one.
func ReadsSecrets(a *engine.Action) bool {
	return a != nil && slices.ContainsFunc(a.Effects, func(e engine.Effect) bool {
		return e.Kind == engine.EffectFileRead && (e.Class == engine.ClassCredential || e.Class == engine.ClassEnvFile)
	})
}
