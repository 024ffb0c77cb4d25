package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"
)

// modules returns the folders of the modules of a repository: its root, and those below cmd with a go.mod of their own.
func modules(root string) []string {
	files, _ := filepath.Glob(filepath.Join(root, "cmd", "*", "go.mod"))
	dirs := []string{root}
	for _, file := range files {
		dirs = append(dirs, filepath.Dir(file))
	}
	return dirs
}

// load loads the packages of all modules, without tests, as they are built for Linux without build tags.
func load(root string) ([]*packages.Package, error) {
	var all []*packages.Package
	for _, dir := range modules(root) {
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles |
				packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo,
			Dir: dir,
			Env: append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0"),
		}, "./...")
		if err != nil {
			return nil, err
		}
		all = append(all, loaded...)
	}
	for _, l := range all {
		if len(l.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", l.PkgPath, l.Errors[0])
		}
	}
	return all, nil
}

// components finds the largest strongly connected component of files in each package: a file refers to another one if it uses
// a name declared there.
func components(root string, loaded []*packages.Package, list []*Package) error {
	whole, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	for _, l := range loaded {
		if len(l.GoFiles) == 0 {
			continue
		}
		dir, err := filepath.Rel(whole, filepath.Dir(l.GoFiles[0]))
		if err != nil {
			return err
		}
		at := slices.IndexFunc(list, func(p *Package) bool { return p.Dir == filepath.ToSlash(dir) })
		if at >= 0 {
			list[at].Component = largest(references(l))
		}
	}
	return nil
}

// references returns which files of a package name what others declare.
func references(p *packages.Package) map[string][]string {
	name := func(o types.Object) string { return filepath.Base(p.Fset.Position(o.Pos()).Filename) }
	graph := map[string][]string{}
	for _, file := range p.Syntax {
		from := filepath.Base(p.Fset.Position(file.Package).Filename)
		graph[from] = nil
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			used := origin(p.TypesInfo.Uses[id])
			if used == nil || used.Pkg() != p.Types {
				return true
			}
			if to := name(used); to != from && !slices.Contains(graph[from], to) {
				graph[from] = append(graph[from], to)
			}
			return true
		})
	}
	return graph
}

// origin returns the generic declaration of an instance.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.PkgName:
		return nil // the name of an import is not declared in another file
	case *types.Var:
		return o.Origin()
	case *types.Func:
		return o.Origin()
	}
	return o
}

// largest returns the largest strongly connected component of a graph, its nodes
// in order.
func largest(graph map[string][]string) []string {
	t := tarjan{graph: graph, index: map[string]int{}, low: map[string]int{}, open: map[string]bool{}}
	for node := range graph {
		if t.index[node] == 0 {
			t.visit(node)
		}
	}
	slices.Sort(t.best)
	return t.best
}

// tarjan is the state of Tarjan's algorithm.
type tarjan struct {
	graph map[string][]string
	index map[string]int // in the order of the visits, from 1
	low   map[string]int
	open  map[string]bool
	stack []string
	best  []string
}

func (t *tarjan) visit(node string) {
	t.index[node] = len(t.index) + 1
	t.low[node] = t.index[node]
	t.stack, t.open[node] = append(t.stack, node), true
	for _, to := range t.graph[node] {
		if t.index[to] == 0 {
			t.visit(to)
			t.low[node] = min(t.low[node], t.low[to])
		} else if t.open[to] {
			t.low[node] = min(t.low[node], t.index[to])
		}
	}
	if t.low[node] < t.index[node] {
		return
	}
	at := slices.Index(t.stack, node)
	found := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, member := range found {
		t.open[member] = false
	}
	if len(found) > len(t.best) {
		t.best = found
	}
}
