package rows

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
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
// that cannot be read is empty: whoever checks a policy says so. Lists whose names
// begin alike, up to a dot, are parsed together: who asks for one asks for more.
func (s *Set) Words(name string) []string {
	if s == nil {
		return nil
	}
	group, _, _ := strings.Cut(name, ".")
	return Once(s, group, func() map[string][]string { return s.wordGroup(group) })[name]
}

func (s *Set) wordGroup(group string) map[string][]string {
	entries := map[string][]Entry[WordList]{}
	for _, blocks := range s.wordBlocks(group) {
		var text strings.Builder
		for _, b := range blocks {
			text.WriteString(b.text)
		}
		var read map[string]WordList
		if yaml.Unmarshal([]byte(text.String()), &read) != nil {
			continue
		}
		for names, list := range read {
			for _, name := range strings.Fields(names) {
				entries[name] = append(entries[name], Entry[WordList]{Row: list, Adds: blocks[0].adds})
			}
		}
	}
	words := map[string][]string{}
	for name, all := range entries {
		words[name] = joinWords(all)
	}
	return words
}

// wordBlocks are the blocks of a group, those of one layer together.
func (s *Set) wordBlocks(group string) [][]*folderBlock {
	var layers [][]*folderBlock
	last := ""
	for _, b := range s.folder(WordsFolder).all {
		if !slices.ContainsFunc(b.named, func(name string) bool { return name == group || strings.HasPrefix(name, group+".") }) {
			continue
		}
		if b.place.Layer != last || layers == nil {
			layers, last = append(layers, nil), b.place.Layer
		}
		layers[len(layers)-1] = append(layers[len(layers)-1], b)
	}
	return layers
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
