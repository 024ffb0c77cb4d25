package cases

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/tools/txtar"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/yamltext"
)

// member is the name of the archive member that contains the case.
const member = "case.yaml"

// Load reads all case files in a folder and its subfolders, in the order of their names.
// The error contains all problems of all files.
func Load(fsys fs.FS) ([]Case, error) { return LoadBelow(fsys, ".", "") }

// LoadBelow is Load for a folder, or for one file, of a file system that is located at the
// folder at: cases and errors name files by their full paths.
func LoadBelow(fsys fs.FS, dir, at string) ([]Case, error) {
	return LoadSome(fsys, dir, at, func([]byte) bool { return true })
}

// LoadSome is LoadBelow for the files whose contents are wanted.
func LoadSome(fsys fs.FS, dir, at string, wanted func(content []byte) bool) ([]Case, error) {
	var all []Case
	var problems []error
	err := fs.WalkDir(fsys, dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			problems = append(problems, unreadable(path.Join(at, name), err))
			return skip(entry)
		case strings.HasPrefix(entry.Name(), ".") && name != dir, path.Ext(name) == ".md":
			return skip(entry)
		case entry.IsDir():
			return nil
		}
		file := path.Join(at, name)
		data, err := readFile(fsys, name, file)
		if err != nil {
			problems = append(problems, err)
			return nil
		}
		if !wanted(data) {
			return nil
		}
		list, err := Parse(file, data)
		all, problems = append(all, list...), append(problems, err)
		return nil
	})
	return all, errors.Join(append(problems, err)...)
}

// Naming returns a function that reports whether a text contains the id of a rule as a word; without
// an id, every text does.
func Naming(id string) func(text string) bool {
	if id == "" {
		return func(string) bool { return true }
	}
	word := regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(id) + `($|[^\w])`)
	return func(text string) bool { return strings.Contains(text, id) && word.MatchString(text) }
}

// maxFile limits a file of cases, in bytes; the largest built-in one has a hundredth of it.
const maxFile = 1 << 20

// readFile reads a file of cases. It does not wait for pipes or devices, and reports files
// that it cannot read, so that no case is silently skipped.
func readFile(fsys fs.FS, name, file string) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		return nil, unreadable(file, err)
	case !info.Mode().IsRegular():
		return nil, &Problem{file, 0, 0, "is not a regular file; replace it with a text file"}
	case info.Size() > maxFile:
		return nil, &Problem{file, 0, 0, fmt.Sprintf("is larger than %d bytes; split it", maxFile)}
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, unreadable(file, err)
	}
	return data, nil
}

func unreadable(file string, err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return &Problem{file, 0, 0, "cannot be read: " + err.Error()}
}

func skip(entry fs.DirEntry) error {
	if entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// Parse reads one file of cases, YAML or txtar by its name, and returns each row of a table
// as a case. Every problem has the form file:line: message; all of them are returned
// together.
func Parse(file string, data []byte) ([]Case, error) {
	switch path.Ext(file) {
	case ".yaml", ".yml":
		return parseYAML(file, 0, data, nil)
	case ".txtar":
		return parseArchive(file, data)
	}
	return nil, &Problem{file, 0, 0, "nothing reads this file; cases are in *.yaml and *.txtar"}
}

func parseArchive(file string, data []byte) ([]Case, error) {
	archive := txtar.Parse(data)
	files := map[string]File{}
	i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == member })
	if i < 0 {
		return nil, &Problem{file, 1, 0, noMember(archive)}
	}
	for _, f := range archive.Files {
		if f.Name != member {
			files[f.Name] = File{Content: string(f.Data)}
		}
	}
	marker := slices.IndexFunc(strings.Split(string(data), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "-- "+member+" --"
	})
	return parseYAML(file, marker+1, archive.Files[i].Data, files)
}

// noMember reports that an archive contains no case, and names the member that may be
// meant.
func noMember(archive *txtar.Archive) string {
	var names []string
	for _, f := range archive.Files {
		names = append(names, f.Name)
	}
	text := "the archive has no file " + member + ", the case itself"
	if near := engine.Nearest(member, names); near != "" {
		text += fmt.Sprintf("; it has %q", near)
	}
	return text
}

func parseYAML(file string, above int, data []byte, files map[string]File) ([]Case, error) {
	d := &decoder{file: file, above: above}
	var all []Case
	for documents := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var doc yaml.Node
		err := documents.Decode(&doc)
		if err == io.EOF {
			break
		}
		if err != nil {
			d.problems = append(d.problems, d.syntax(data, err))
			break
		}
		all = append(all, d.document(doc.Content[0], files)...)
	}
	if len(d.problems) > 0 {
		return nil, errors.Join(d.problems...)
	}
	if len(all) == 0 {
		return nil, &Problem{file, 0, 0, "the file has no case; add one or delete it"}
	}
	return all, nil
}

// syntax reports where and why a string is not valid YAML.
func (d *decoder) syntax(data []byte, err error) error {
	fault := yamltext.Explain(string(data), err)
	return &Problem{d.file, d.above + fault.Line, fault.Col, fault.Message}
}

// document reads a case or a list of cases; a document that contains only comments is
// ignored.
func (d *decoder) document(n *yaml.Node, files map[string]File) []Case {
	var all []Case
	switch {
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			all = append(all, d.one(item, files)...)
		}
	case n.Tag != "!!null":
		all = d.one(n, files)
	}
	return all
}

func (d *decoder) one(n *yaml.Node, files map[string]File) []Case {
	before := len(d.problems)
	c := Case{File: d.file, Line: d.line(n)}
	d.into(reflect.ValueOf(&c).Elem(), n, "the case")
	if len(d.problems) > before {
		return nil
	}
	c.Workspace, c.Home = cmp.Or(c.Workspace, defaultWorkspace), cmp.Or(c.Home, defaultHome)
	c.Now = cmp.Or(c.Now, defaultNow)
	for _, name := range sortedKeys(files) {
		if _, twice := c.Files[name]; twice {
			d.wrong(n, "files.%s is also in the archive; use one of the two", name)
		}
	}
	if files != nil {
		maps.Copy(files, c.Files)
		c.Files = files
	}
	c.check(d, n)
	return c.expand()
}

// expand makes a case from each row of a table.
func (c Case) expand() []Case {
	if len(c.Rows) == 0 {
		return []Case{c}
	}
	var all []Case
	for i, row := range c.Rows {
		one := c
		one.Name, one.Line, one.Rows = c.Name+": "+row.title(), row.Event.line, nil
		one.table, one.row, one.Todo = c.Name, i+1, cmp.Or(row.Todo, c.Todo)
		one.Events = append(slices.Clone(c.Events), row.Event)
		all = append(all, one)
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
