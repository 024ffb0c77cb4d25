package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"strings"
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

	// fingerprintName names how fingerprint computes; another way, another number.
	fingerprintName = "reviewerFinding/v1"
)

func writeSARIF(b *bytes.Buffer, r *Report, o Options) error {
	s := sarifWriter{o: o, known: map[string]Rule{coverageID: {Title: "The tests do not cover enough of the policy"}}, index: map[string]int{}, prints: fingerprints{o: o}}
	s.run.Tool.Driver = sarifDriver{Name: "reviewer", Version: o.Version, Rules: []sarifRule{}}
	// Documents of different commands stand beside each other, and do not replace
	// each other, by this id.
	s.run.Automation.ID = "reviewer/" + strings.ReplaceAll(r.Command, " ", "-") + "/"
	s.run.ColumnKind, s.run.Results = "unicodeCodePoints", []sarifResult{}
	s.run.Bases = map[string]sarifBase{sarifRoot: {sarifText{"The root of the repository that holds the policy."}}}
	for _, rule := range r.Rules {
		s.known[rule.ID] = rule
	}
	place := r.anyFile()
	for _, f := range r.findings() {
		f.File = orElse(f.File, place)
		s.add(f)
	}
	return encode(b, sarifLog{sarifSchema, "2.1.0", []sarifRun{s.run}})
}

// anyFile is where a finding without a place goes: code scanning refuses a
// whole document over one that has none.
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

// finding is an annotation under the id of what it is about. Its key tells it
// from others of that id in that file, whatever stands around it.
type finding struct {
	annotation
	id, key string
}

func (r *Report) findings() []finding {
	var all []finding
	for _, p := range r.Problems {
		all = append(all, finding{p.annotation(), orElse(p.Code, "policy.problem"), p.Message})
	}
	for _, s := range r.Suites {
		for _, t := range s.Tests {
			if t.broke() {
				all = append(all, t.finding())
			}
		}
	}
	for _, a := range r.Coverage.annotations() {
		all = append(all, finding{a, coverageID, a.text})
	}
	return all
}

// finding of a test is one of the rule that it is about; where there are none
// or several it is the test's own.
func (t Test) finding() finding {
	id := t.Name
	if len(t.Rules) == 1 {
		id = t.Rules[0]
	}
	text := fmt.Sprintf("%s: %s\n%s", t.Name, t.headline(), t.details())
	return finding{annotation{level: "error", Place: t.Place, title: t.Name, text: text}, id, t.Name}
}

type sarifWriter struct {
	o      Options
	run    sarifRun
	known  map[string]Rule
	index  map[string]int // of a rule in the driver's list
	prints fingerprints
}

func (s *sarifWriter) add(f finding) {
	s.run.Results = append(s.run.Results, sarifResult{
		RuleID: f.id, RuleIndex: s.rule(f), Level: f.level,
		Message:      sarifText{orElse(strings.TrimSpace(printable(f.text)), f.id)},
		Locations:    []sarifLocation{s.location(f.annotation)},
		Fingerprints: map[string]string{fingerprintName: s.prints.of(f)},
	})
}

// rule returns the place of a finding's rule in the driver's list.
func (s *sarifWriter) rule(f finding) int {
	if i, ok := s.index[f.id]; ok {
		return i
	}
	known := s.known[f.id]
	title := sarifText{orElse(known.Title, f.id)}
	rule := sarifRule{ID: f.id, Short: title, Full: title, Help: sarifText{orElse(known.Help, title.Text)}}
	if len(known.Tags) > 0 {
		rule.Properties = &sarifRuleExtra{known.Tags}
	}
	s.index[f.id] = len(s.run.Tool.Driver.Rules)
	s.run.Tool.Driver.Rules = append(s.run.Tool.Driver.Rules, rule)
	return s.index[f.id]
}

func (s *sarifWriter) location(a annotation) sarifLocation {
	p := sarifPhysical{Artifact: s.artifact(a.File)}
	if a.Line > 0 {
		p.Region = &sarifRegion{Line: a.Line, Col: a.Col, Last: a.last}
	}
	return sarifLocation{p}
}

// artifact names a file from the repository's root, and one outside by itself.
func (s *sarifWriter) artifact(file string) sarifArtifact {
	name := s.o.path(file)
	if path.IsAbs(name) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: name}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: path.Clean(name)}).String(), BaseID: sarifRoot}
}

// fingerprints tell the findings of a document apart.
type fingerprints struct {
	o    Options
	seen map[string]int // how often one was used
}

// of stays the same when lines move. The n-th finding of the same kind in a file
// has its own.
func (p *fingerprints) of(f finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.id, p.o.path(f.File), f.key}, "\x00")))
	print := hex.EncodeToString(sum[:16])
	if p.seen == nil {
		p.seen = map[string]int{}
	}
	p.seen[print]++
	return fmt.Sprintf("%s:%d", print, p.seen[print])
}
