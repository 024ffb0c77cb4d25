package rows

import (
	"slices"
	"strings"
)

// WordList is a list of words by which texts are read: verbs that end things,
// words by which people forbid, errors of tools.
//
//	operation.delete:
//	  about: words in the name of an operation that say that something is deleted
//	  words: delete destroy terminate purge
//
// A list that a layer has again is joined with the one below it.
type WordList struct {
	About    string   `json:"about,omitempty" yaml:"about"`       // what the words mean, and which source they have
	Words    string   `json:"words,omitempty" yaml:"words"`       // separated by blanks
	Phrases  []string `json:"phrases,omitempty" yaml:"phrases"`   // words with blanks in them
	Loosens  bool     `json:"loosens,omitempty" yaml:"loosens"`   // a word more makes facts less strict: only the organisation's layer adds some
	Replace  bool     `json:"replace,omitempty" yaml:"replace"`   // none of the words below counts any more
	Examples []string `json:"examples,omitempty" yaml:"examples"` // texts in which a word of the list stands
}

// Words returns the words of a list, those of all layers, in their order. A list
// that cannot be read is empty: whoever checks a policy says so.
func (s *Set) Words(name string) []string {
	return Once(s, WordsFolder, func() map[string][]string { return wordLists(s) })[name]
}

// Lists returns the names of all lists of words.
func (s *Set) Lists() []string {
	var names []string
	for name := range Once(s, WordsFolder, func() map[string][]string { return wordLists(s) }) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func wordLists(s *Set) map[string][]string {
	all, err := All[WordList](s, WordsFolder)
	lists := map[string][]string{}
	if err != nil {
		return lists
	}
	loosens := map[string]bool{}
	for _, e := range all {
		for _, name := range e.Names {
			loosens[name] = loosens[name] || e.Row.Loosens
			if e.Adds && (loosens[name] || e.Row.Replace) {
				continue
			}
			if e.Row.Replace {
				lists[name] = nil
			}
			lists[name] = slices.Concat(lists[name], strings.Fields(e.Row.Words), e.Row.Phrases)
		}
	}
	return lists
}
