package lint

import (
	"path"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/codes"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/report"
	"github.com/agent-reviewer/reviewer/engine"
)

// ignoreWord is the prefix of comments that accept a finding.
const ignoreWord = "reviewer:ignore"

// ignore is one such comment.
type ignore struct {
	file         string // layer/file
	line, col    int    // of the comment
	code, reason string
	from, to     int  // the lines that it applies to
	used, firm   bool // it matched a finding; one that cannot be ignored
}

// about reports whether the comment applies to a problem, by code and place.
func (g *ignore) about(p *engine.Problem) bool {
	return g.code == p.Code && g.file == p.File && g.from <= p.Line && p.Line <= g.to
}

// ignoreFindings removes the warnings that the layers accept, and reports comments
// that accept nothing.
func (p *policy) ignoreFindings() {
	var ignores []*ignore
	for _, b := range p.effective.Layers {
		if p.layers[b.Layer].Given {
			ignores = append(ignores, ignoresOf(b)...)
			p.manifestCodes(b)
		}
	}
	var left []*engine.Problem
	for _, f := range p.found {
		if by, reason := p.accepted(f, ignores); by != "" {
			p.ignored = append(p.ignored, ignoredFinding{f, by, reason})
			continue
		}
		left = append(left, f)
	}
	p.found = left
	for _, g := range ignores {
		p.reportIgnore(g)
	}
}

type ignoredFinding struct {
	*engine.Problem
	by, reason string
}

// accepted returns what accepts a finding, and why; empty: nothing does. A severity in
// the manifest changes the finding.
func (p *policy) accepted(f *engine.Problem, ignores []*ignore) (by, reason string) {
	code, known := codes.Of(f.Code)
	for _, g := range ignores {
		if !g.about(f) {
			continue
		}
		g.used = true
		if !f.Warning || known && !code.Ignorable() {
			g.firm = true
		} else if g.reason != "" {
			return report.ByComment, g.reason
		}
	}
	layer, _, _ := strings.Cut(f.File, "/")
	severity := p.severity(layer, f.Code)
	switch {
	case !f.Warning || !code.Ignorable():
	case severity == bundles.LintOff:
		return report.ByManifest, "metadata.lint of .manifest"
	case severity == bundles.LintError:
		f.Warning = false
	}
	return "", ""
}

// severity returns the severity that a layer's manifest sets for a code.
func (p *policy) severity(layer, code string) string {
	for _, b := range p.effective.Layers {
		if b.Layer == layer && p.layers[layer].Given {
			return b.Manifest.Metadata.Lint[code]
		}
	}
	return ""
}

// reportIgnore reports a comment that has no effect.
func (p *policy) reportIgnore(g *ignore) {
	code, known := codes.Of(g.code)
	w := &engine.Problem{File: g.file, Line: g.line, Col: g.col, Warning: true}
	switch {
	case g.code == "":
		w.Code, w.Message = "ignore.unknown", "reviewer:ignore names no code; write reviewer:ignore CODE reason"
	case !known:
		w.Code, w.Message = "ignore.unknown", "unknown code; `reviewer policy codes` lists all codes"
		w.Found, w.Suggestion = `"`+g.code+`"`, engine.Nearest(g.code, codes.Names())
	case !code.Ignorable() || g.firm:
		w.Code, w.Message = "ignore.fixed",
			g.code+" cannot be ignored, since only warnings can; correct what it reports, and remove the comment"
	case g.reason == "":
		w.Code, w.Message = "ignore.reason",
			"the ignore of "+g.code+" has no reason, so it has no effect; write the reason after the code"
	case !g.used:
		w.Code, w.Message = "ignore.unused",
			"no finding with the code "+g.code+" follows this comment; remove it, or put it directly above the rule or line"
	default:
		return
	}
	p.add(w)
}

// manifestCodes reports codes in a manifest that do not exist, or cannot be changed.
func (p *policy) manifestCodes(b *bundles.Bundle) {
	for _, name := range sortedKeys(b.Manifest.Metadata.Lint) {
		code, known := codes.Of(name)
		w := &engine.Problem{File: b.Layer + "/.manifest", Warning: true}
		w.Line, w.Col = b.ManifestPlace(name)
		switch {
		case !known:
			w.Code, w.Message = "ignore.unknown",
				"metadata.lint: unknown code; `reviewer policy codes` lists all codes"
			w.Found, w.Suggestion = `"`+name+`"`, engine.Nearest(name, codes.Names())
		case !code.Ignorable():
			w.Code, w.Message = "ignore.fixed",
				"metadata.lint: the severity of "+name+" is fixed; only that of warnings can be set"
		default:
			continue
		}
		p.add(w)
	}
}

// ignoresOf reads the comments of a layer's files.
func ignoresOf(b *bundles.Bundle) []*ignore {
	var all []*ignore
	for _, name := range sortedKeys(b.Files) {
		if ext := path.Ext(name); ext == ".rego" || ext == ".yaml" || ext == ".yml" {
			all = append(all, ignoresIn(b.Layer+"/"+name, string(b.Files[name]))...)
		}
	}
	return all
}

func ignoresIn(file, text string) []*ignore {
	if !strings.Contains(text, ignoreWord) {
		return nil
	}
	var all []*ignore
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		before, after, found := strings.Cut(line, ignoreWord)
		head := strings.TrimRight(before, " \t")
		if !found || !strings.HasSuffix(head, "#") {
			continue
		}
		g := &ignore{file: file, line: i + 1, col: len(head), from: i + 1, to: i + 1}
		g.code, g.reason, _ = strings.Cut(strings.TrimSpace(after), " ")
		g.reason = strings.TrimSpace(g.reason)
		if strings.TrimSpace(head) == "#" {
			g.from, g.to = below(lines, i+1)
		}
		all = append(all, g)
	}
	return all
}

// below returns the lines (from 1) that a comment in the line before applies to:
// the next non-empty line with everything indented below it, and its closing
// bracket.
func below(lines []string, at int) (from, to int) {
	from = at + 1
	for at < len(lines) && skipped(lines[at]) {
		at++
	}
	if at == len(lines) {
		return from, from
	}
	indent := indentOf(lines[at])
	to = at + 1
	for next := at + 1; next < len(lines); next++ {
		switch text := strings.TrimSpace(lines[next]); {
		case skipped(lines[next]):
		case indentOf(lines[next]) > indent || indentOf(lines[next]) == indent && strings.IndexByte("}])", text[0]) >= 0:
			to = next + 1
		default:
			return from, to
		}
	}
	return from, to
}

func skipped(line string) bool {
	text := strings.TrimSpace(line)
	return text == "" || strings.HasPrefix(text, "#")
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
