package rows

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Layer contains the files of one layer of a policy that contain rows.
type Layer struct {
	Name  string            // of the layer
	Adds  bool              // its rows only add to what is known: the user's and the project's layer
	Files map[string][]byte // contents by path in the layer
}

// Set contains the rows of a policy. It is safe for concurrent use. A nil Set has no rows.
type Set struct {
	digest string
	layers []Layer

	made     sync.Map // values that callers derived from the rows, by their keys
	mutex    sync.Mutex
	blocks   map[string][]block // by the program's name, in the order of layers
	starts   []block            // for names that end in *
	programs map[string]found
}

// block is the text of one row, which is parsed on demand.
type block struct {
	name      string // one of the row's names
	layer     int
	place     Place
	converted bool
	checks    bool // contains only checks
	reveals   bool // contains only what shows secrets
	text      string
}

// Place is the position of a row.
type Place struct {
	Layer string `json:"layer"`
	File  string `json:"file"`
	Line  int    `json:"line"`
}

// String returns layer/file:line.
func (p Place) String() string { return p.Layer + "/" + p.File + ":" + strconv.Itoa(p.Line) }

// Known contains what the rows say about a program.
type Known struct {
	Program
	Place     Place
	Converted bool  // known only from facts of other sources: it still counts as unknown
	Added     []Row // rows of layers that may only add
}

// Row is a row and its position.
type Row struct {
	Program
	Place   Place
	Reveals bool // it only describes what shows secrets
}

type found struct {
	known Known
	ok    bool
	err   error
}

// New makes a set from the rows of all layers, in order.
func New(layers []Layer) *Set { return &Set{layers: layers, digest: digestOf(layers)} }

// digestOf covers the layers' names and the bytes of their files.
func digestOf(layers []Layer) string {
	sum := sha256.New()
	some := false
	for _, l := range layers {
		for _, name := range slices.Sorted(maps.Keys(l.Files)) {
			fmt.Fprintf(sum, "%s\n%s\n%d\n", l.Name, name, len(l.Files[name]))
			sum.Write(l.Files[name])
			some = true
		}
	}
	if !some {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Layers returns the layers that contain the rows.
func (s *Set) Layers() []Layer { return s.layers }

// RowsDigest returns a digest of all rows; empty: there are none.
func (s *Set) RowsDigest() string {
	if s == nil {
		return ""
	}
	return s.digest
}

// Program returns the merged rows of a program. A row that cannot be parsed is an
// error: callers must treat the program as unknown.
func (s *Set) Program(name string) (Known, bool, error) {
	if s == nil {
		return Known{}, false, nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.index()
	f := s.found(name, 0)
	return f.known, f.ok, f.err
}

// maxLike limits the length of a chain of rows that refer to each other by like.
const maxLike = 4

// found returns what is known about a program, computed once. A row with like contains only
// the differences.
func (s *Set) found(name string, depth int) found {
	f, ok := s.programs[name]
	if ok {
		return f
	}
	f = s.find(name)
	switch like := f.known.Like; {
	case like == "":
	case depth == maxLike:
		return found{err: fmt.Errorf("%s: %s is like %s, which refers back to it", f.known.Place, name, like)}
	default:
		other := s.found(like, depth+1)
		if f.err = cmp.Or(f.err, other.err); !other.ok && f.err == nil {
			f.err = fmt.Errorf("%s: like: there is no row for %s", f.known.Place, like)
		}
		checks := f.known.Checks // for the program itself: a program like terraform need not check with the same words
		f.known.Program = other.known.over(f.known.Program)
		f.known.Checks = checks
	}
	s.programs[name] = f
	return f
}

// Names lists the programs that have a row, converted ones only on request.
func (s *Set) Names(converted bool) []string {
	if s == nil {
		return nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.index()
	var names []string
	for name, list := range s.blocks {
		if converted || slices.ContainsFunc(list, func(b block) bool { return !b.converted && !b.checks && !b.reveals }) {
			names = append(names, name)
		}
	}
	for _, b := range s.starts {
		names = append(names, b.name+"*")
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s *Set) index() {
	if s.blocks != nil {
		return
	}
	s.blocks, s.programs = map[string][]block{}, map[string]found{}
	for i, l := range s.layers {
		for _, file := range slices.Sorted(maps.Keys(l.Files)) {
			if !strings.HasPrefix(file, ProgramsFolder) {
				continue
			}
			for _, b := range Split(string(l.Files[file])) {
				s.enter(block{layer: i, place: Place{l.Name, file, b.Line}, converted: strings.HasPrefix(file, ConvertedFolder),
					checks: file == ChecksFile, reveals: file == RevealsFile, text: b.Text}, b.Names)
			}
		}
	}
}

func (s *Set) enter(b block, names []string) {
	for _, name := range names {
		if start, ok := strings.CutSuffix(name, "*"); ok {
			b.name = start
			s.starts = append(s.starts, b)
			continue
		}
		b.name = name
		s.blocks[name] = append(s.blocks[name], b)
	}
}

// find merges the rows of all layers about a program.
func (s *Set) find(name string) found {
	list := s.blocks[name]
	if !slices.ContainsFunc(list, func(b block) bool { return !b.converted && !b.checks && !b.reveals && !s.layers[b.layer].Adds }) {
		for _, b := range s.starts {
			if strings.HasPrefix(name, b.name) {
				list = append(list[:len(list):len(list)], b)
			}
		}
		slices.SortStableFunc(list, func(a, b block) int { return cmp.Compare(a.layer, b.layer) })
	}
	var f found
	checks := ""
	for _, b := range list {
		row, err := parse[Program](b.text)
		if err != nil {
			return found{err: fmt.Errorf("%s: %w", b.place, err)}
		}
		if adds := s.layers[b.layer].Adds; !adds && row.Replace {
			checks = row.Checks
		} else if !adds {
			checks += " " + row.Checks
		}
		f.add(row, b, b.reveals || s.layers[b.layer].Adds)
	}
	f.known.Checks = strings.TrimSpace(checks)
	return f
}

// add merges one more row. Our own rows are complete: converted facts add nothing to them.
func (f *found) add(row Program, b block, adds bool) {
	switch k := &f.known; {
	case b.checks:
		return
	case adds:
		k.Added = append(k.Added, Row{row, b.place, b.reveals})
	case f.ok && !k.Converted && b.converted:
		return
	case f.ok && k.Converted == b.converted:
		k.Program, k.Place = k.Program.over(row), b.place
	default:
		k.Program, k.Place, k.Converted = row, b.place, b.converted
	}
	f.ok = f.ok || !adds
}

// Folders of a layer that contain rows. Converted facts of other sources never make a
// program known.
const (
	ProgramsFolder  = "programs/"
	ConvertedFolder = "programs/converted/"
	ChecksFile      = "programs/checks.yaml"  // rows that define which programs check, in addition to the programs' own rows
	RevealsFile     = "programs/reveals.yaml" // rows that define how programs show secrets, in addition to the programs' own rows
	PlacesFolder    = "places/"               // what kind of file a path is
	TokensFolder    = "tokens/"               // what secrets look like
	ToolsFolder     = "tools/"                // tools of agents and of MCP servers
	WordsFolder     = "words/"                // lists of words
)

// Folders lists the folders that contain rows.
func Folders() []string {
	return []string{ProgramsFolder, PlacesFolder, TokensFolder, ToolsFolder, WordsFolder}
}

// Block is the text of one row of a file.
type Block struct {
	Names []string
	Line  int
	Text  string
}

// Split splits a file of rows at the lines that start at column 0. It parses nothing:
// checking a policy parses the whole file, and rejects files whose blocks differ from what
// YAML reads there.
func Split(text string) []Block {
	var list []Block
	line, start, from := 0, -1, 0
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		line++
		if c := text[at]; c != ' ' && c != '#' && c != '\n' && c != '\r' {
			if start >= 0 {
				list = append(list, Block{namesOf(text[start:at]), from, text[start:at]})
			}
			start, from = at, line
		}
		at += end + 1
	}
	if start >= 0 {
		list = append(list, Block{namesOf(text[start:]), from, text[start:]})
	}
	return list
}

// namesOf returns the names in the key of a block, which may be quoted.
func namesOf(block string) []string {
	line, _, _ := strings.Cut(block, "\n")
	line = strings.TrimSuffix(line, "\r") // as git checks out files on Windows
	if quote := line[0]; quote == '"' || quote == '\'' {
		name, _, _ := strings.Cut(line[1:], string(quote))
		return strings.Fields(name)
	}
	name, _, _ := strings.Cut(line+" ", ": ")
	return strings.Fields(strings.TrimSuffix(name, ":"))
}

// parse parses the text of a block.
func parse[T any](text string) (row T, err error) {
	var rows map[string]T
	if err := yaml.Unmarshal([]byte(text), &rows); err != nil {
		return row, fmt.Errorf("read row: %w", err)
	}
	for _, one := range rows {
		return one, nil
	}
	return row, nil
}

// Entry is a row of any kind.
type Entry[T any] struct {
	Names []string
	Row   T
	Place Place
	Adds  bool // its layer may only make facts stricter
}

// All parses all rows of a folder, in the order of layers, files and lines. The error is
// that of the first file that cannot be parsed.
func All[T any](s *Set, folder string) ([]Entry[T], error) {
	if s == nil {
		return nil, nil
	}
	var list []Entry[T]
	for _, l := range s.layers {
		for _, file := range slices.Sorted(maps.Keys(l.Files)) {
			if !strings.HasPrefix(file, folder) {
				continue
			}
			var read map[string]T // one parser for the file: creating it costs more than parsing most rows
			if err := yaml.Unmarshal(l.Files[file], &read); err != nil {
				return nil, fmt.Errorf("%s/%s: read rows: %w", l.Name, file, err)
			}
			rows := map[string]T{}
			for key, row := range read {
				rows[strings.Join(strings.Fields(key), " ")] = row
			}
			for _, b := range Split(string(l.Files[file])) {
				list = append(list, Entry[T]{b.Names, rows[strings.Join(b.Names, " ")], Place{l.Name, file, b.Line}, l.Adds})
			}
		}
	}
	return list, nil
}

// Once returns the result of make, which is called once per set and key: values derived
// from the rows, such as a table of places.
func Once[T any](s *Set, key string, make func() T) T {
	if s == nil {
		return make()
	}
	once, ok := s.made.Load(key)
	if !ok {
		once, _ = s.made.LoadOrStore(key, sync.OnceValue(make))
	}
	return once.(func() T)()
}

// Differ reports whether two sets differ in a folder.
func Differ(then, now *Set, folder string) bool {
	return !maps.Equal(then.texts(folder), now.texts(folder))
}

// Changed returns a function that reports whether two sets differ about a program or, in
// another folder, about a name of its rows.
func Changed(then, now *Set, folder string) func(name string) bool {
	was, is := then.texts(folder), now.texts(folder)
	changed := map[string]bool{}
	for _, texts := range []map[string]string{was, is} {
		for name := range texts {
			if was[name] != is[name] {
				changed[name] = true
			}
		}
	}
	spread(changed, is)
	return func(name string) bool {
		if changed[name] {
			return true
		}
		for pattern := range changed {
			if begin, open := strings.CutSuffix(pattern, "*"); open && strings.HasPrefix(name, begin) {
				return true
			}
		}
		return false
	}
}

// spread adds the programs whose rows refer to a changed one: by like, or because they
// parse operands as that program.
func spread(changed map[string]bool, texts map[string]string) {
	refers := regexp.MustCompile(`\b(?:like|as): *["']?([^\s,}"']+)`)
	for more := true; more; {
		more = false
		for name, text := range texts {
			for _, other := range refers.FindAllStringSubmatch(text, -1) {
				if changed[other[1]] && !changed[name] {
					changed[name], more = true, true
				}
			}
		}
	}
}

// texts returns the rows of each name in a folder, with their layers.
func (s *Set) texts(folder string) map[string]string {
	all := map[string]string{}
	if s == nil {
		return all
	}
	for _, l := range s.layers {
		for _, file := range slices.Sorted(maps.Keys(l.Files)) {
			if !strings.HasPrefix(file, folder) {
				continue
			}
			for _, b := range Split(string(l.Files[file])) {
				for _, name := range b.Names {
					_, row, _ := strings.Cut(b.Text, ":")
					all[name] += fmt.Sprintf("%s %v %v\n%s\n", l.Name, l.Adds, strings.HasPrefix(file, ConvertedFolder), row)
				}
			}
		}
	}
	return all
}
