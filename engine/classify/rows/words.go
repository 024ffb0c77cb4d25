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
	if s == nil {
		return nil
	}
	return Once(s, WordsFolder+name, func() []string {
		all, err := Find[WordList](s, WordsFolder, name)
		if err != nil {
			return nil
		}
		return joinWords(all)
	})
}

// Lists returns the names of all lists of words.
func (s *Set) Lists() []string { return s.NamesIn(WordsFolder) }

// joinWords puts together what the layers say of a list. A layer that only adds
// is not heard where a word more would make facts less strict.
func joinWords(all []Entry[WordList]) []string {
	var words []string
	loosens := false
	for _, e := range all {
		loosens = loosens || e.Row.Loosens
		switch {
		case e.Adds && (loosens || e.Row.Replace):
			continue
		case e.Row.Replace:
			words = nil
		}
		words = slices.Concat(words, strings.Fields(e.Row.Words), e.Row.Phrases)
	}
	return words
}
