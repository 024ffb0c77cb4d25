package shipped

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/mutate"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine/cases"
	"github.com/agent-reviewer/reviewer/engine/mutant"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/agent-reviewer/reviewer/engine/sweep"
)

// unseenNumbers are those of the built-in policy on which no recorded decision
// of its cases depends: moved by one step, nothing differs. A key is a setting, a
// group of them, or one step of a number. Each has its reason. The list may get shorter, and longer only with a reason.
var unseenNumbers = map[string]string{
	"audit":                              keptOnly,
	"cache":                              cacheOnly,
	"grants":                             grantOnly,
	"overrides":                          waitOnly,
	"save":                               storedOnly,
	"run":                                runOnly,
	"isolation":                          runOnly,
	"resources.max_memory_mb":            runOnly,
	"checkpoints.budget_ms":              storedOnly,
	"checkpoints.ignored.max_bytes":      storedOnly,
	"checkpoints.ignored.max_file_bytes": storedOnly,
	"checkpoints.ignored.max_files":      storedOnly,
	"checkpoints.max_bytes":              storedOnly,
	"checkpoints.max_file_bytes":         storedOnly,
	"checkpoints.max_files":              storedOnly,
	"approvals.wait_seconds":             waitOnly,
	"guard.check_seconds":                "it says how often the resident process looks at the installation, and nothing of a decision",
	"performance.async_threshold":        earlyOnly,
	"performance.max_review_time_ms":     countedOnly,
	"patterns.factors.high":              otherSensitivity,
	"patterns.factors.low":               otherSensitivity,

	"risk.failed_similar 0->1":              "the first item stands for no failure, and then nothing is added",
	"risk.active_pattern.critical 0.3->0.2": "patterns that are critical decide by themselves, and add nothing",
	"risk.active_pattern.critical 0.3->0.4": "patterns that are critical decide by themselves, and add nothing",
	"history.similar 0.85->0.86":            noCase + "words are alike by far more or far less",
	"confidence.near_boundary 0.05->0.04":   noCase + "the scores have two digits, and none of them lies between 0.04 and 0.05 from a boundary",
	"rationality.low_threshold 0.3->0.2":    noCase + "no action is that far from the goal",
	"rationality.low_threshold 0.3->0.4":    noCase + "no action is that far from the goal",
	"deny_workaround critical 1->0":         "its measure is 1 wherever it fires: whether it does is in its condition",
	"refused_workaround medium 1->0":        "its measure is 1 wherever it fires: whether it does is in its condition",
	"goal_drift low 0.85->0.8":              noCase + "what drifts in them does so wholly, or not by 0.8",
	"goal_drift low 0.85->0.9":              noCase + "what drifts in them does so wholly, or not by 0.8",
}

const (
	storedOnly       = "it says what a checkpoint stores, and nothing of a decision"
	earlyOnly        = "it matters in mode async only"
	countedOnly      = "it says which reviews count as slow, and nothing of a decision"
	runOnly          = "it holds in `reviewer run` only, which no case is"
	waitOnly         = "it says how long something waits or is kept for a person, and nothing of a decision"
	grantOnly        = "a grant is taken from answers in other sessions, which no case has: rego/settings_grants_test.go"
	cacheOnly        = "it says how much the resident process keeps, and nothing of a decision"
	keptOnly         = "it says how much of the log is kept, and nothing of a decision"
	otherSensitivity = "it holds for a sensitivity other than the built-in one"
	noCase           = "no case is so near to it: "
)

const nearFile = "near.yaml"

// nearCases reach numbers to which no case of the policy comes near.
var nearCases = `
- name: as many deletions as a session may have
  files: {` + fromOneTo(26, "%d.go: x") + `}
  git: {` + fromOneTo(26, "%d.go: clean") + `}
  events:
    - {Bash: "rm {n}.go", times: 25, result: ok, expect: {not_rules: [mass_deletion]}}
    - {Bash: rm 26.go, expect: {rules: [mass_deletion]}}
- name: tokens just below the number for a prompt
  events:
    - {Bash: ls, tokens: 99999, result: ok, expect: {not_rules: [limit_tokens]}}
- name: run time just below and at twice the number for a prompt
  events:
    - {Bash: go test ./a}
    - {result: {ms: 599999}, expect: {not_rules: [limit_time]}}
    - {Bash: go test ./b}
    - {result: {ms: 1}, expect: {rules: [limit_time]}}
- name: ports at which services listen
  cases: [` + atPorts(22, 25, 53, 111, 139, 445, 631, 1433, 1521, 2375, 2376, 2377, 2379, 2380, 3306, 3389, 5432, 5672, 6379, 6443,
	9042, 9092, 10250, 11211, 15672, 27017) + `]
`

// atPorts are cases in which what listens at each of some ports is ended.
func atPorts(ports ...int) string {
	var list []string
	for _, p := range ports {
		list = append(list, fmt.Sprintf("{Bash: fuser -k %d/tcp, rules: [service_ended]}", p))
	}
	return strings.Join(list, ", ")
}

// fromOneTo is a list of a string with each of the numbers up to n in it.
func fromOneTo(n int, text string) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(text, i+1))
	}
	return strings.Join(list, ", ")
}

// A number of the policy that is moved by one step and offered under the digest
// of the one that decided is found: some decision does not reproduce.
//
// A part of them is tried, the same in each run; REVIEWER_EVERY=1 (`make
// fidelity`) tries all. Those in unseenNumbers, for which every case is replayed to
// no effect, are then moved together, and one by one where something differs.
func TestMovedNumbersAreFound(t *testing.T) {
	log := newCaseLog(t)
	numbers := append(movedData(log.base), movedThresholds(log.base)...)
	if len(numbers) < 190 {
		t.Fatalf("the built-in policy has only %d numbers to move", len(numbers))
	}
	for key := range unseenNumbers {
		if !slices.ContainsFunc(numbers, func(m moved) bool { return slices.Contains(m.keys(), key) }) {
			t.Errorf("%s is listed, and the built-in policy has no such number", key)
		}
	}
	every, count := sweep.Every(), sweep.Count(t, "numbers of the policy, each moved")
	var mu sync.Mutex
	tried, unseen := map[string]bool{}, map[string]bool{}
	t.Run("each", func(t *testing.T) {
		for i, m := range numbers {
			if listed := m.unseen() != ""; !every && (i%48 != 3 || listed) || listed && (m.change != nil || i%8 != 0) {
				continue
			}
			count.Add(1)
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				seen := log.differs(t, m)
				mu.Lock()
				defer mu.Unlock()
				if tried[m.name] = true; !seen {
					unseen[m.name] = true
				}
			})
		}
	})
	if every {
		log.movedTogether(t, numbers)
	}
	for _, m := range numbers {
		switch listed := m.unseen() != ""; {
		case unseen[m.name] && !listed:
			t.Errorf("%s: no recorded decision depends on it; give it a case, or say in unseenNumbers why there is none", m.name)
		case tried[m.name] && !unseen[m.name] && listed:
			t.Errorf("%s is found, and need not be listed", m.name)
		}
	}
}

// movedTogether moves the listed numbers of the data in one policy, each by its first step that is not refused.
func (l *caseLog) movedTogether(t *testing.T, numbers []moved) {
	var listed []moved
	for _, m := range numbers {
		last := len(listed) - 1
		if m.change == nil || m.unseen() == "" || last >= 0 && listed[last].about == m.about && listed[last].change.Before == m.change.Before {
			continue
		}
		if _, err := m.make(); err == nil {
			listed = append(listed, m)
		}
	}
	l.noneFound(t, listed)
}

// noneFound moves numbers together, and each half of them where something differs.
func (l *caseLog) noneFound(t *testing.T, listed []moved) {
	var changes []*mutate.Change
	for _, m := range listed {
		changes = append(changes, m.change)
	}
	all := moved{name: "listed numbers", make: func() (*bundles.Effective, error) { return withChanges(l.base, changes...) }}
	if _, err := all.make(); err != nil {
		t.Fatal(err)
	}
	switch half := len(listed) / 2; {
	case !l.differs(t, all):
	case half == 0:
		t.Errorf("%s is found, and need not be listed", listed[0].name)
	default:
		l.noneFound(t, listed[:half])
		l.noneFound(t, listed[half:])
	}
}

// moved is a policy of which one number is another.
type moved struct {
	name   string         // what is moved, and to what: risk.base.unknown 0.8->0.9
	about  string         // id of the row; else the setting
	change *mutate.Change // of the data; nil: of a row
	make   func() (*bundles.Effective, error)
}

// unseen is the reason why no decision depends on a number, if it is listed.
func (m moved) unseen() string {
	for _, key := range m.keys() {
		if why := unseenNumbers[key]; why != "" {
			return why
		}
	}
	return ""
}

// keys are those of unseenNumbers that a number can have.
func (m moved) keys() []string {
	keys := []string{m.name, m.about}
	for group := m.about; strings.Contains(group, "."); {
		group = group[:strings.LastIndex(group, ".")]
		keys = append(keys, group)
	}
	return keys
}

// movedData moves every number of the data by one step, up and down, and so the
// numbers of rows next to thresholds.
func movedData(base *bundles.Bundle) []moved {
	var all []moved
	for _, m := range mutate.Changes(base, func(string) bool { return true }, nil) {
		if strings.HasPrefix(m.Path, "/reviewer/interventions/") {
			continue // off in the built-in policy; policy/intervention_test.rego tests the numbers
		}
		if m.Operator != mutant.ChangeNumber || strings.HasPrefix(m.File, "patterns/") {
			continue
		}
		all = append(all, moved{fmt.Sprintf("%s %s->%s", m.Rule, m.Before, m.After), m.Rule, m, func() (*bundles.Effective, error) {
			return withChanges(base, m)
		}})
	}
	return all
}

func withChanges(base *bundles.Bundle, changes ...*mutate.Change) (*bundles.Effective, error) {
	b, err := mutate.Apply(base, changes...)
	if err != nil {
		return nil, err
	}
	return bundles.Assemble(b)
}

// movedThresholds moves each level of each row. The threshold is the lowest of
// them and moves with it: otherwise the row is refused.
func movedThresholds(base *bundles.Bundle) []moved {
	var all []moved
	for i, r := range base.Rules {
		for l, level := range r.Levels {
			for _, step := range steps(level.At) {
				if slices.ContainsFunc(r.Levels, func(other bundles.RuleLevel) bool { return other.At == level.At+step }) {
					continue // two levels at one step are refused
				}
				name := fmt.Sprintf("%s %s %.4g->%.4g", r.ID, level.Level, level.At, level.At+step)
				all = append(all, moved{name, r.ID, nil, func() (*bundles.Effective, error) { return withLevel(base, i, l, step) }})
			}
		}
	}
	return all
}

// steps are what moves a threshold: a share by a twentieth, a count by one.
func steps(at float64) []float64 {
	if at != math.Trunc(at) {
		return []float64{-0.05, 0.05}
	}
	return []float64{-1, 1}
}

func withLevel(base *bundles.Bundle, row, level int, step float64) (*bundles.Effective, error) {
	changed := *base
	changed.Rules = slices.Clone(base.Rules)
	r := &changed.Rules[row]
	r.Levels = slices.Clone(r.Levels)
	r.Levels[level].At += step
	if level == 0 {
		threshold := *r.Threshold + step
		r.Threshold = &threshold
	}
	return bundles.Assemble(&changed)
}

// caseLog is all cases of the built-in policy, written down, with who decided.
type caseLog struct {
	base   *bundles.Bundle
	digest string

	mu     sync.Mutex
	chains []caseChain // the one that found something last first
}

// caseChain is the records of a case.
type caseChain struct {
	text string // of what the case is, in lower case
	*ran
}

func newCaseLog(t *testing.T) *caseLog {
	t.Helper()
	runner, list := shippedCases(t)
	log := &caseLog{base: runner.Layers()[0], digest: wiringtest.Effective(t).Digest}
	near, err := cases.Parse(nearFile, []byte(nearCases))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range append(near, list...) {
		if c.Settings != nil || c.Layers != nil {
			continue
		}
		kept := runner.once(t, c)
		if c.File == nearFile && len(kept.failures) > 0 {
			t.Fatalf("%s: %v", c.Name, kept.failures)
		}
		log.chains = append(log.chains, caseChain{strings.ToLower(c.File + " " + c.Name), kept})
	}
	return log
}

// differs reports whether a replay notices that a number was moved. A policy that
// is refused is noticed, too.
func (l *caseLog) differs(t *testing.T, m moved) bool {
	t.Helper()
	e, err := m.make()
	if err != nil {
		return true
	}
	policy, err := wiring.CompileWith(t.Context(), e, wiringtest.Reopened)
	if err != nil {
		t.Fatal(err)
	}
	find := func(digest string) (*review.Policy, error) {
		if digest != l.digest {
			return nil, fmt.Errorf("the log names policy %s, not %s", digest, l.digest)
		}
		return policy, nil
	}
	for _, chain := range l.inOrder(m.about) {
		report, err := simulate.Replay(t.Context(), chain.records(), find, cli.Environment())
		if err != nil || len(report.Missing) > 0 || report.Decisions == 0 {
			t.Fatalf("%s: %v %v", m.name, err, report.Why)
		}
		if report.Different > 0 {
			l.hit(chain)
			return true
		}
	}
	return false
}

// inOrder lists the chains, first those in which a row was found, or whose cases have the words of a setting's name.
func (l *caseLog) inOrder(about string) []caseChain {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, score := slices.Clone(l.chains), map[*ran]int{}
	for _, c := range list {
		score[c.ran] = c.findings[about]
		for _, word := range strings.FieldsFunc(about, func(r rune) bool { return r == '.' || r == '_' }) {
			score[c.ran] += strings.Count(c.text, word)
		}
	}
	slices.SortStableFunc(list, func(a, b caseChain) int { return score[b.ran] - score[a.ran] })
	return list
}

// hit moves a chain forward: what finds one number finds others.
func (l *caseLog) hit(chain caseChain) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.chains, func(c caseChain) bool { return c.ran == chain.ran })
	l.chains = slices.Insert(slices.Delete(l.chains, i, i+1), 0, chain)
}
