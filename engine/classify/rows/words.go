package rows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WordList is a list of words with which texts are interpreted: verbs that end things,
// words with which people forbid something, errors of tools.
//
//	operation.delete:
//	  about: words in the name of an operation that indicate that something is deleted
//	  words: delete destroy terminate purge
//
// If several layers have a list, their words are joined.
type WordList struct {
	About    string   `json:"about,omitempty" yaml:"about"`       // meaning of the words, and their source
	Words    string   `json:"words,omitempty" yaml:"words"`       // separated by spaces
	Phrases  []string `json:"phrases,omitempty" yaml:"phrases"`   // words that contain spaces
	Loosens  bool     `json:"loosens,omitempty" yaml:"loosens"`   // additional words can make facts less strict: the user and project layers may not add any
	Replace  bool     `json:"replace,omitempty" yaml:"replace"`   // the words of lower layers no longer apply
	Examples []string `json:"examples,omitempty" yaml:"examples"` // texts that contain a word of the list
}

// Words returns the words of a list in all layers, in order. A row that cannot be parsed
// has none: checking a policy reports it. From a layer that may only add, a word counts
// only if no other list of the same family has it: it cannot move a word away from a list
// that makes facts stricter. The family is the name up to the dot.
func (s *Set) Words(name string) []string {
	if s == nil {
		return nil
	}
	return Once(s, WordsFolder+name, func() []string {
		list, loosens := s.ownWords(name)
		for _, b := range s.folder(WordsFolder).exact[name] {
			row, err := parseWords(b.text)
			if !b.adds || err != nil || loosens || row.Replace || len(list) == 0 {
				continue
			}
			for _, w := range row.All() {
				if s.Taken(name, w) == "" {
					list = append(list, w)
				}
			}
		}
		return list
	})
}

// Adds reports whether a layer that may only add has rows in a folder.
func (s *Set) Adds(folder string) bool {
	return s != nil && slices.ContainsFunc(s.folder(folder).all, func(b *folderBlock) bool { return b.adds })
}

// OwnWords returns the words of a list without those of layers that may only add.
func (s *Set) OwnWords(name string) []string {
	if s == nil {
		return nil
	}
	list, _ := s.ownWords(name)
	return list
}

// ownWords returns the words of the layers without that restriction.
func (s *Set) ownWords(name string) (list []string, loosens bool) {
	for _, b := range s.folder(WordsFolder).exact[name] {
		row, err := parseWords(b.text)
		if b.adds || err != nil {
			continue
		}
		if row.Replace {
			list = nil
		}
		loosens = loosens || row.Loosens
		list = append(list, row.All()...)
	}
	return list, loosens
}

// Taken reports why a layer that may only add cannot add a word to a list; empty: it can.
// In a prompt, a word that looks like a path is the name of something.
func (s *Set) Taken(name, word string) string {
	family, _, _ := strings.Cut(name, ".")
	if family == "prompt" && strings.ContainsAny(word, `./\`) {
		return "it looks like a path"
	}
	for _, other := range s.Lists() {
		if of, _, _ := strings.Cut(other, "."); of != family || other == name {
			continue
		}
		if list, _ := s.ownWords(other); slices.Contains(list, word) {
			return "it is in " + other
		}
	}
	return ""
}

// Loosens reports whether additional words in a list can make facts less strict.
func (s *Set) Loosens(name string) bool {
	if s == nil {
		return false
	}
	_, loosens := s.ownWords(name)
	return loosens
}

// Lists returns the names of all lists of words.
func (s *Set) Lists() []string { return s.NamesIn(WordsFolder) }

// All returns the words and the phrases.
func (l WordList) All() []string { return slices.Concat(strings.Fields(l.Words), l.Phrases) }

// Holds reports whether a string contains a word or a phrase of the list.
func (l WordList) Holds(text string) bool {
	low := strings.ToLower(text)
	return slices.ContainsFunc(strings.Fields(l.Words), func(w string) bool { return holdsWord(low, strings.ToLower(w)) }) ||
		slices.ContainsFunc(l.Phrases, func(p string) bool { return strings.Contains(low, p) })
}

// holdsWord reports whether a string contains a word without adjacent letters.
func holdsWord(text, word string) bool {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		from += i
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[from+len(word):])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return true
		}
	}
}

func parseWords(text string) (WordList, error) {
	v, ok := plain(text, "words", "phrases", "loosens", "replace")
	if ok && flag(v.text("loosens")) && flag(v.text("replace")) {
		return WordList{Words: v.text("words"), Phrases: v.list("phrases"), Loosens: v.text("loosens") == "true",
			Replace: v.text("replace") == "true"}, nil
	}
	return parse[WordList](text)
}

func flag(text string) bool { return text == "" || text == "true" || text == "false" }

// SettingLists lists the lists that are settings of a policy, since rules use them too.
func SettingLists() []string { return []string{"services.money", "services.messages"} }

// ListsFile returns a file of words with these lists of settings, which layers merge in
// their own way.
func ListsFile(lists map[string][]string) []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		fmt.Fprintf(&b, "%s:\n  phrases:\n", name)
		for _, w := range lists[name] {
			fmt.Fprintf(&b, "    - %q\n", w)
		}
	}
	return []byte(b.String())
}
