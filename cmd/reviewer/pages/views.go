package pages

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/overview"
)

// Frame is what all pages have.
type Frame struct {
	Title   string
	Live    bool
	Made    int64  // Unix milliseconds
	Partial string // how much of the log was read so far; empty: all
	Notes   []string
	Nav     []Link
}

// Link is a link to a page; Here: it is this one.
type Link struct {
	Name, Href string
	Count      int
	Here       bool
}

// Span is a span of time that pages are about.
type Span struct {
	Name  string // in addresses
	Title string
	Days  int // that it has, the last one of which is today, or that ends yesterday
	Back  int // days before today on which it ends
}

// Spans lists the spans.
func Spans() []Span {
	return []Span{{"index", "Today", 1, 0}, {"yesterday", "Yesterday", 1, 1}, {"week", "7 days", 7, 0}, {"month", "30 days", 30, 0}}
}

// Kinds lists the kinds of events that have a page of their own, with their titles.
func Kinds() [][2]string {
	return [][2]string{{"denied", "Denied"}, {"stopped", "Sessions stopped"}, {"asked", "Asked"}, {"warned", "Warned"},
		{"modified", "Modified"},
		{"saved", "Saved first"}, {"observed", "Only observed"}, {"all", "All events"}}
}

// Is reports whether an event is of a kind.
func Is(e *overview.Event, kind string) bool {
	switch kind {
	case "denied":
		return e.Answer == engine.Block
	case "stopped":
		return e.Stop
	case "asked":
		return e.Answer == engine.Ask
	case "warned":
		return e.Answer == engine.Warn
	case "modified":
		return e.Answer == engine.Modify
	case "saved":
		return e.Point != ""
	case "observed":
		return e.Decision != ""
	}
	return kind == "all"
}

// Figure is a number at the top of a day.
type Figure struct {
	Name, Word, Href string
	N                int64
}

// Day is the page about a span of time.
type Day struct {
	Frame
	Span    Span
	Spans   []Link
	Figures []Figure
	Waiting []Waiting
	Day     overview.Day
	All     string // address of all events
}

// Waiting is a question in a list.
type Waiting struct {
	Href, Tool, Action, Why, Where string
	Until                          int64
}

// Events lists events of a kind.
type Events struct {
	Frame
	Span Span
	Back string
	List []overview.Notable
	More int
}

// Listed is a session in a list.
type Listed struct {
	*overview.Session
	Name, Folder, Href string
	Tally              overview.Tally
}

// Sessions lists sessions.
type Sessions struct {
	Frame
	List []Listed
	More int
}

// Compare shows two sessions next to each other.
type Compare struct {
	Frame
	A, B Listed
	Rows []Compared
}

// Compared is a fact about two sessions.
type Compared struct{ Name, A, B string }

// Verified is the result of verifying a log.
type Verified struct {
	OK   bool
	Text string
}

// Statement is something that a person or an instruction file said, as far as it holds.
type Statement struct{ Kind, Text string }

// Session is the page about a session.
type Session struct {
	Frame
	Listed
	StopReason    string
	Incidents     []Incident
	Verified      []Verified
	Labels, Scope string
	Said          []Statement
	Pages         []Link
	Entries       []Entry
}

// Incident is a link to an incident.
type Incident struct{ ID, State, Summary, Href string }

// Entry is a line of a session's timeline.
type Entry struct {
	ID, Href                         string
	T                                int64
	Kind, Badge, Label, Who, Outcome string
	Tool, Code, Words                string
	Details                          []Detail
}

// Detail is a line below an entry.
type Detail struct {
	Text   string
	Strong bool
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Item is a line of a list.
type Item struct{ Word, Name, Text, Href string }

// List is a list with a title.
type List struct {
	Title string
	Items []Item
}

// Change is what a call would write.
type Change struct {
	Name, Note string
	Lines      []Line
}

// Line is a line of a change; Class: add, del, head or empty.
type Line struct{ Class, Text string }

// DiffLines divides a text into lines; those of a unified diff have classes.
func DiffLines(text string, diff bool) []Line {
	var list []Line
	for line := range strings.Lines(text) {
		one := Line{Text: strings.TrimSuffix(line, "\n")}
		switch {
		case !diff:
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "@@"):
			one.Class = "head"
		case strings.HasPrefix(line, "+"):
			one.Class = "add"
		case strings.HasPrefix(line, "-"):
			one.Class = "del"
		}
		list = append(list, one)
	}
	return list
}

// Restore says how saved files are restored.
type Restore struct{ Text, Command string }

// Record is the page about a record.
type Record struct {
	Frame
	ID, Session, SessionHref string
	Word, Tool, What, Why    string
	Where, Harm, Hidden      string
	T                        int64
	Facts                    []Fact
	Restore                  *Restore
	Question                 string // the line for the terminal that answers it
	Lists                    []List
	Changes                  []Change
	Explained                string
	Open                     bool // the explanation is shown at once
}

// Question is a question that waits.
type Question struct {
	ID, Tool, Action, Where, Risk, Hidden, Answer string
	Until                                         int64
	Reversible                                    bool
	Lists                                         []List
	Changes                                       []Change
}

// Questions lists the questions that wait.
type Questions struct {
	Frame
	List []Question
}

// Layer is a layer of the policy.
type Layer struct {
	Layer, From, Release, Signed, Channel, Expires string
	Problems                                       []string
}

// Fired is a rule, with how often it fired and what followed.
type Fired struct {
	ID, Title, Decision, Harm, Layer, Off, Wait string
	Rule                                        overview.Rule
}

// Instruction is an instruction file.
type Instruction struct {
	Path, Problem string
	Trusted       bool
	Sentences     []Sentence
}

// Sentence is a sentence of an instruction file that forbids something, or seems to.
type Sentence struct {
	Line          int
	Text, Meaning string
	Statements    bool
}

// Policy is the page about the policy.
type Policy struct {
	Frame
	Problems      []string
	Trust, Digest string
	Layers        []Layer
	Fired, Silent []Fired
	Instructions  []Instruction
}

// Query is what to search for.
type Query struct{ Q, Rule, Harm, Answer, Person, From, To string }

// Search is a search with its results.
type Search struct {
	Frame
	Query
	Rules, Harms, Answers, Persons []string
	Problem                        string
	Asked                          bool
	List                           []overview.Notable
	More                           bool
}

// Problem is a page about something that cannot be shown.
type Problem struct {
	Frame
	Text string
}

func (Day) template() string       { return "day" }
func (Events) template() string    { return "events" }
func (Sessions) template() string  { return "sessions" }
func (Compare) template() string   { return "compare" }
func (Session) template() string   { return "session" }
func (Record) template() string    { return "record" }
func (Questions) template() string { return "questions" }
func (Policy) template() string    { return "policy" }
func (Search) template() string    { return "search" }
func (Problem) template() string   { return "problem" }
