package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
)

// The parts of SARIF 2.1.0 that are written; code scanning reads no more.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool            `json:"tool"`
		Automation sarifID              `json:"automationDetails"`
		ColumnKind string               `json:"columnKind"`
		Bases      map[string]sarifBase `json:"originalUriBaseIds"`
		Results    []sarifResult        `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifBase struct {
		Description sarifText `json:"description"`
	}
	sarifID struct {
		ID string `json:"id"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID         string          `json:"id"`
		Short      sarifText       `json:"shortDescription"`
		Full       sarifText       `json:"fullDescription"`
		Help       sarifText       `json:"help"`
		Properties *sarifRuleExtra `json:"properties,omitempty"`
	}
	sarifRuleExtra struct {
		Tags []string `json:"tags"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   map[string]string `json:"properties,omitempty"`
		Suppressions []sarifSuppressed `json:"suppressions,omitempty"`
	}
	sarifSuppressed struct {
		Kind          string `json:"kind"` // inSource, external
		Justification string `json:"justification"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI    string `json:"uri"`
		BaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
		Col  int `json:"startColumn,omitempty"`
		Last int `json:"endLine,omitempty"`
	}
)

const (
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
	sarifRoot   = "%SRCROOT%"
	coverageID  = "policy.coverage"

	// fingerprintName identifies the algorithm of fingerprint; a new one needs a new
	// number.
	fingerprintName = "reviewerFinding/v2"
)

func writeSARIF(b *bytes.Buffer, r *Report, o Options) error {
	place := r.anyFile()
	var list []Finding
	for _, f := range slices.Concat(r.findings(), r.ignoredFindings()) {
		f.File = cmp.Or(f.File, place)
		list = append(list, f)
	}
	rules := append([]Rule{{ID: coverageID, Title: "The tests do not cover enough of the policy"}}, r.Rules...)
	return sarif(b, r.Command, rules, list, o)
}

// WriteSARIF writes the findings of a command as a SARIF 2.1.0 log, completely or not at all. The
// rules describe those that findings name; the others are left out.
func WriteSARIF(w io.Writer, command string, rules []Rule, findings []Finding, o Options) error {
	return term.Whole(w, func(b *bytes.Buffer) error { return sarif(b, command, rules, findings, o) })
}

func sarif(b *bytes.Buffer, command string, rules []Rule, findings []Finding, o Options) error {
	s := sarifWriter{o: o, known: map[string]Rule{}, index: map[string]int{}, prints: fingerprints{o: o}}
	s.run.Tool.Driver = sarifDriver{Name: "reviewer", Version: o.Version, Rules: []sarifRule{}}
	// With this id, documents of different commands do not replace each other.
	s.run.Automation.ID = "reviewer/" + strings.ReplaceAll(command, " ", "-") + "/"
	s.run.ColumnKind, s.run.Results = "unicodeCodePoints", []sarifResult{}
	s.run.Bases = map[string]sarifBase{sarifRoot: {sarifText{"The root of the repository that contains the policy."}}}
	for _, rule := range rules {
		s.known[rule.ID] = rule
	}
	for _, f := range findings {
		s.add(f)
	}
	return term.WriteJSON(b, sarifLog{sarifSchema, "2.1.0", []sarifRun{s.run}})
}

// anyFile is the place of a finding without a file: code scanning refuses a document
// with such a finding.
func (r *Report) anyFile() string {
	if r.Coverage != nil && len(r.Coverage.Files) > 0 {
		return r.Coverage.Files[0].File
	}
	for _, s := range r.checks() {
		for _, t := range s.Tests {
			if t.File != "" {
				return t.File
			}
		}
	}
	return "."
}

// Finding is one result of a SARIF log.
type Finding struct {
	Place                        // required by code scanning; "." is the repository
	Last       int               // line, 0: Place.Line
	Level      string            // error, warning, note
	Text       string            // what was found
	Rule       string            // id of its subject
	Key        string            // distinguishes it from other findings of that rule in that file; never a message
	Properties map[string]string // further facts; nil: none
	ignored    *Ignored          // nil: not accepted
}

// finding is an annotation under the id of its subject.
func (a annotation) finding(rule, key string) Finding {
	return Finding{Place: a.Place, Last: a.last, Level: a.level, Text: a.text, Rule: rule, Key: key}
}

func (r *Report) findings() []Finding {
	var all []Finding
	for _, p := range r.Problems {
		all = append(all, p.annotation().finding(cmp.Or(p.Code, "policy.problem"), p.Found))
	}
	for _, s := range r.Suites {
		for _, t := range s.Tests {
			if t.broke() {
				all = append(all, t.finding())
			}
		}
	}
	for _, a := range r.Coverage.annotations() {
		all = append(all, a.finding(coverageID, a.key))
	}
	return all
}

// ignoredFindings are those that someone has accepted.
func (r *Report) ignoredFindings() []Finding {
	var all []Finding
	for _, i := range r.Ignored {
		f := i.annotation().finding(i.Code, i.Found)
		f.ignored = &i
		all = append(all, f)
	}
	return all
}

func (i *Ignored) suppressions() []sarifSuppressed {
	switch {
	case i == nil:
		return nil
	case i.By == ByManifest:
		return []sarifSuppressed{{"external", i.Reason}}
	}
	return []sarifSuppressed{{"inSource", i.Reason}}
}

// finding returns the finding of a test, under the rule that the test is
// about; if there is none, or there are several, under the test itself.
func (t Test) finding() Finding {
	id := t.Name
	if len(t.Rules) == 1 {
		id = t.Rules[0]
	}
	text := fmt.Sprintf("%s: %s\n%s", t.Name, t.headline(), t.details())
	return Finding{Place: t.Place, Level: "error", Text: text, Rule: id, Key: t.Name}
}

type sarifWriter struct {
	o      Options
	run    sarifRun
	known  map[string]Rule
	index  map[string]int // of a rule in the driver's list
	prints fingerprints
}

func (s *sarifWriter) add(f Finding) {
	s.run.Results = append(s.run.Results, sarifResult{
		RuleID: f.Rule, RuleIndex: s.rule(f.Rule), Level: f.Level,
		Message:      sarifText{cmp.Or(strings.TrimSpace(term.Printable(f.Text)), f.Rule)},
		Locations:    []sarifLocation{s.location(f)},
		Fingerprints: map[string]string{fingerprintName: s.prints.of(f)},
		Properties:   f.Properties,
		Suppressions: f.ignored.suppressions(),
	})
}

// rule returns the place of a rule in the driver's list.
func (s *sarifWriter) rule(id string) int {
	if i, ok := s.index[id]; ok {
		return i
	}
	known := s.known[id]
	title := sarifText{cmp.Or(known.Title, id)}
	rule := sarifRule{ID: id, Short: title, Full: sarifText{cmp.Or(known.Full, title.Text)}, Help: sarifText{cmp.Or(known.Help, title.Text)}}
	if len(known.Tags) > 0 {
		rule.Properties = &sarifRuleExtra{known.Tags}
	}
	s.index[id] = len(s.run.Tool.Driver.Rules)
	s.run.Tool.Driver.Rules = append(s.run.Tool.Driver.Rules, rule)
	return s.index[id]
}

func (s *sarifWriter) location(f Finding) sarifLocation {
	p := sarifPhysical{Artifact: s.artifact(f.File)}
	if f.Line > 0 {
		p.Region = &sarifRegion{Line: f.Line, Col: f.Col, Last: f.Last}
	}
	return sarifLocation{p}
}

// artifact names a file relative to the repository's root, and one outside by its
// path.
func (s *sarifWriter) artifact(file string) sarifArtifact {
	name := s.o.path(file)
	if path.IsAbs(name) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: name}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: path.Clean(name)}).String(), BaseID: sarifRoot}
}

// fingerprints identify the findings of a document.
type fingerprints struct {
	o    Options
	seen map[string]int // how often one was used
}

// of stays the same when lines move. The n-th finding of the same kind in a file
// has its own fingerprint.
func (p *fingerprints) of(f Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, p.o.path(f.File), f.Key}, "\x00")))
	print := hex.EncodeToString(sum[:16])
	if p.seen == nil {
		p.seen = map[string]int{}
	}
	p.seen[print]++
	return fmt.Sprintf("%s:%d", print, p.seen[print])
}
