package operation

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// Words are the words by which the names of operations are interpreted. Without rows there are
// none, and no name has a meaning.
type Words struct {
	verbs  []verb   // of tools, the worst first
	ends   []verb   // words for ending something at a service, the worst first
	stops  []string // nouns of machines
	turned []string
	reads  []string
	makes  []string
	alters []string
	people []string // nouns of what an operation pays or sends to people
}

// verb is the meaning of a word.
type verb struct {
	name  string
	words []string
}

// WordsOf returns the words of a policy's rows.
func WordsOf(set *rows.Set) *Words {
	return rows.Once(set, "words of operations", func() *Words {
		return &Words{
			verbs:  verbsOf(set, "operation.", "delete", "write", "send", "run", "read"),
			ends:   verbsOf(set, "ends.", "delete", "remove", "clear", "archive", "halt", "stop", "disable"),
			stops:  set.Words("ends.machines"),
			turned: set.Words("ends.turned"),
			reads:  set.Words("verbs.read"),
			makes:  set.Words("verbs.make"),
			alters: set.Words("verbs.change"),
			people: slices.Concat(set.Words("services.money"), set.Words("services.messages")),
		}
	})
}

func verbsOf(set *rows.Set, family string, names ...string) []verb {
	var list []verb
	for _, name := range names {
		list = append(list, verb{name, set.Words(family + name)})
	}
	return list
}

// Verb returns whether a tool reads, deletes, sends, writes or runs, by the words of its name;
// the worst word counts, and an empty result means unknown.
func (w *Words) Verb(name string) string {
	parts := NameParts(name)
	for _, v := range w.verbs {
		if abstract.AnyOf(parts, v.words...) {
			return v.name
		}
	}
	return ""
}

// Reads reports whether an operation of a service only reads: list, get-object.
func (w *Words) Reads(op string) bool {
	return slices.ContainsFunc(w.reads, func(v string) bool {
		rest, ok := strings.CutPrefix(op, v)
		return ok && (rest == "" || rest[0] == '-')
	})
}

// Makes reports whether an operation of a service creates or starts something: all words after
// the verb are names.
func (w *Words) Makes(op string) bool { return slices.Contains(w.makes, op) }

// Changes reports whether an operation of a service changes an existing object.
func (w *Words) Changes(op string) bool { return slices.Contains(w.alters, op) }

// Sent returns what an operation pays or sends to people, by its name: messages:create,
// create_refund, send_email. Empty: nothing.
func (w *Words) Sent(name string) string {
	parts := NameParts(name)
	does := slices.IndexFunc(parts, func(p string) bool { return w.Makes(p) || w.sends(p) })
	for i, p := range parts {
		if noun := w.Paid(p); does >= 0 && i != does && noun != "" {
			return noun
		}
	}
	return ""
}

func (w *Words) sends(word string) bool {
	return slices.ContainsFunc(w.verbs, func(v verb) bool { return v.name == "send" && slices.Contains(v.words, word) })
}

// Paid returns a noun in the singular, if it is money or a message to people; sending it
// cannot be undone. Empty: it is something else.
func (w *Words) Paid(noun string) string {
	if noun = Singular(noun); slices.Contains(w.people, noun) {
		return noun
	}
	return ""
}

// NameParts splits snake_case, kebab-case and camelCase into lower-case words.
func NameParts(name string) []string {
	var b strings.Builder
	for i, c := range name {
		if c >= 'A' && c <= 'Z' && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9')
	})
}

// Ending returns what an operation ends, by its name: delete and the noun of
// delete-db-instance, deleteIndex, volume_delete. Empty: nothing. Of several such words the
// worst counts.
func (w *Words) Ending(name string) (verb, noun string) {
	parts := w.joined(NameParts(name))
	for _, kind := range w.ends {
		for i, p := range parts {
			if slices.Contains(kind.words, p) && !(i > 0 && slices.Contains(w.turned, parts[i-1])) && !(i+1 < len(parts) && parts[i+1] == "later") &&
				w.counts(kind.name, parts, i) {
				return strings.Replace(kind.name, "halt", "stop", 1), nounAround(parts, i)
			}
		}
	}
	if len(parts) > 1 && (parts[0] == "schedule" || parts[0] == "request") && parts[len(parts)-1] == "deletion" {
		return "delete", nounAround(parts[:len(parts)-1], 0)
	}
	if i := slices.Index(parts, "reset"); i == 0 || i > 0 && i == len(parts)-1 {
		return "reset", nounAround(parts, i)
	}
	return "", ""
}

// joined combines two parts that are a phrase of the lists of words that end something: power
// off.
func (w *Words) joined(parts []string) []string {
	for i := 0; i+1 < len(parts); i++ {
		phrase := parts[i] + " " + parts[i+1]
		if slices.ContainsFunc(w.ends, func(v verb) bool { return slices.Contains(v.words, phrase) }) {
			parts[i] = phrase
			parts = append(parts[:i+1], parts[i+2:]...)
		}
	}
	return parts
}

// counts reports whether the verb at i is the operation of a name. Words for stopping count
// only if a machine is stopped.
func (w *Words) counts(kind string, parts []string, i int) bool {
	switch kind {
	case "delete", "halt":
		return true
	case "stop":
		return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(w.stops, Singular(p)) })
	}
	return i == 0 || i == len(parts)-1
}

// nounAround returns the rest of an operation's name without the verb at i.
func nounAround(parts []string, i int) string {
	rest := parts[i+1:]
	if len(rest) == 0 {
		rest = parts[:i]
	}
	if len(rest) == 0 {
		return ""
	}
	return PlainNoun(Singular(strings.Join(rest, "-")))
}

// PlainNoun returns a noun, or nothing if the word is more likely a name: it is shown and
// recorded, so it must not contain anyone's secret.
func PlainNoun(s string) string {
	s = strings.ToLower(s)
	if len(s) < 2 || len(s) > 32 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz-_") != "" {
		return ""
	}
	return s
}

// Singular returns the singular of a noun: volumes, policies, addresses.
func Singular(noun string) string {
	switch {
	case len(noun) < 4 || strings.HasSuffix(noun, "ss") || strings.HasSuffix(noun, "us") || strings.HasSuffix(noun, "is"):
		return noun
	case strings.HasSuffix(noun, "ies"):
		return noun[:len(noun)-3] + "y"
	case strings.HasSuffix(noun, "sses") || strings.HasSuffix(noun, "xes") || strings.HasSuffix(noun, "ches"):
		return noun[:len(noun)-2]
	case strings.HasSuffix(noun, "s"):
		return noun[:len(noun)-1]
	}
	return noun
}
