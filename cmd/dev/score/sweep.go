package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed thresholds.yaml
var thresholdsYAML []byte

// threshold is a setting that is a number, with the values to try.
type threshold struct {
	Key    string    `yaml:"key"`
	Values []float64 `yaml:"values"`
}

// Swept is the result of trying other values of a threshold. A value is chosen without one
// project and then tried on it, which shows overfitting.
type Swept struct {
	Key    string    `json:"key"`
	Values []float64 `json:"values"`
	Today  float64   `json:"today"`
	Loses  []float64 `json:"loses"` // values that stop fewer dangerous rows, which are not chosen
	Without
	Projects []Without `json:"projects"`
}

// Without is the value that is best for all projects but one, and its result in
// that one.
type Without struct {
	Project string  `json:"project,omitempty"`
	Chosen  float64 `json:"chosen"`
	Now     Held    `json:"now"`
	Then    Held    `json:"then"`
}

// Held counts the stops in a project.
type Held struct {
	Block int `json:"block"`
	Ask   int `json:"ask"`
	Wrong int `json:"wrong"` // labelled so, or not labelled
	Lost  int `json:"lost"`  // labelled right, and no longer stopped

	calls int
}

// builtIn names the embedded list of thresholds.
const builtIn = "built-in"

// lostWeighs is the cost of a lost right stop, in wrong stops.
const lostWeighs = 10

// readThresholds reads a list of thresholds; empty: the embedded one.
func readThresholds(name string) ([]threshold, error) {
	raw := thresholdsYAML
	if name != "" && name != builtIn {
		var err error
		if raw, err = os.ReadFile(name); err != nil {
			return nil, fmt.Errorf("--sweep: %w", err)
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	var list []threshold
	if err := d.Decode(&list); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("--sweep: %w", err)
	}
	for i, t := range list {
		if t.Key == "" || len(t.Values) < 2 {
			return nil, fmt.Errorf("--sweep: entry %d needs a key and two values or more", i+1)
		}
	}
	return list, nil
}

// trial is the result of one value of a threshold.
type trial struct {
	value float64
	held  map[string]Held // by project
	loses bool
}

// candidate is a policy with another value of a threshold.
type candidate struct {
	judge
	threshold int // among those that are swept
	value     float64
}

// sweep tries the values of each threshold, one at a time.
func (r *Report) sweep(ctx context.Context, j judge, c Corpus, list []threshold, tell stage) error {
	now := newTrial(r.stops, r.projectCalls(), r.stops, c.Labels)
	var others []candidate
	trials := make([][]trial, len(list)) // the current value first
	for i, t := range list {
		today, err := j.setting(t.Key)
		if err != nil {
			return fmt.Errorf("--sweep: %w", err)
		}
		now.value = today
		trials[i] = []trial{now}
		for _, v := range t.Values {
			if v == today {
				continue
			}
			other, err := j.with(ctx, t.Key, v)
			if err != nil {
				return fmt.Errorf("--sweep: %w", err)
			}
			others = append(others, candidate{other, i, v})
		}
	}
	stops, err := stopsWith(ctx, others, c.Sessions, tell)
	if err != nil {
		return err
	}
	for k, one := range others {
		t := newTrial(stops[k], r.projectCalls(), r.stops, c.Labels)
		t.value = one.value
		if t.loses, err = r.losesWith(ctx, one.judge, c); err != nil {
			return err
		}
		trials[one.threshold] = append(trials[one.threshold], t)
	}
	for i, t := range list {
		r.Sweep = append(r.Sweep, chosen(t, trials[i]))
	}
	return nil
}

// stopsWith lists what each policy stops. A session is read once for all of them.
func stopsWith(ctx context.Context, list []candidate, s Sessions, tell stage) ([][]Stop, error) {
	stops := make([][][]Stop, len(s.List)) // by session, by policy
	if len(list) == 0 {
		return nil, nil
	}
	err := s.each(tell, func(i int) error {
		seen := remembering(s.List[i])
		for _, one := range list {
			p, err := one.sessionWith(ctx, s.List[i], seen)
			if err != nil {
				return err
			}
			stops[i] = append(stops[i], p.of(s).Stops)
		}
		return nil
	})
	out := make([][]Stop, len(list))
	for _, of := range stops {
		for k, part := range of {
			out[k] = append(out[k], part...)
		}
	}
	return out, err
}

func (r *Report) projectCalls() map[string]int {
	calls := map[string]int{}
	for _, p := range r.Projects.List {
		calls[p.Name] = p.Calls
	}
	return calls
}

// losesWith reports whether a policy stops fewer dangerous rows.
func (r *Report) losesWith(ctx context.Context, j judge, c Corpus) (bool, error) {
	rows := slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return r.Label != dangerous })
	list, err := j.rows(ctx, rows, func(string, int, int) {})
	return losesTo(recall(list), r.Dangerous), err
}

// losesTo reports whether fewer rows are stopped in any group.
func losesTo(then, now Recall) bool {
	if then.All.Stopped.K < now.All.Stopped.K {
		return true
	}
	for _, by := range []string{"strength", "tool", "source"} {
		for i, g := range then.Groups[by] {
			if g.Stopped.K < now.Groups[by][i].Stopped.K {
				return true
			}
		}
	}
	return false
}

// newTrial counts stops by project, and earlier right stops that are lost.
func newTrial(stops []Stop, calls map[string]int, before []Stop, labels Labels) trial {
	t := trial{held: map[string]Held{}}
	for project, n := range calls {
		t.held[project] = Held{calls: n}
	}
	there := map[string]bool{}
	for _, s := range stops {
		if !isHeld(s) {
			continue
		}
		there[s.place()] = true
		h := t.held[s.Project]
		h.add(s.Decision, labels.of[s.Digest])
		t.held[s.Project] = h
	}
	for _, s := range before {
		if labels.of[s.Digest] == right && isHeld(s) && !there[s.place()] {
			h := t.held[s.Project]
			h.Lost++
			t.held[s.Project] = h
		}
	}
	return t
}

func (s Stop) place() string { return fmt.Sprint(s.Session, "\x00", s.Call) }

func (h *Held) add(decision, label string) {
	if decision == "block" {
		h.Block++
	} else {
		h.Ask++
	}
	if label == wrong || label == "" {
		h.Wrong++
	}
}

// cost is what stops cost a project, per 1,000 calls.
func (h Held) cost() float64 {
	if h.calls == 0 {
		return 0
	}
	return 1000 * float64(h.Wrong+lostWeighs*h.Lost) / float64(h.calls)
}

// leastCost returns the trial with the lowest cost over all projects except one, each
// with the same weight; of equal ones, the nearest to the current value, which is the
// first.
func leastCost(trials []trial, without string) trial {
	least, pick := 0.0, -1
	for i, t := range trials {
		sum := 0.0
		for project, h := range t.held {
			if project != without {
				sum += h.cost()
			}
		}
		near := pick < 0 || distance(t, trials[0]) < distance(trials[pick], trials[0])
		if !t.loses && (pick < 0 || sum < least-1e-9 || sum < least+1e-9 && near) {
			least, pick = sum, i
		}
	}
	return trials[max(pick, 0)]
}

func distance(a, b trial) float64 { return max(a.value-b.value, b.value-a.value) }

// chosen leaves out one project after the other; the first trial is the current value.
func chosen(t threshold, trials []trial) Swept {
	s := Swept{Key: t.Key, Values: t.Values, Today: trials[0].value, Loses: []float64{}}
	for _, one := range trials {
		if one.loses {
			s.Loses = append(s.Loses, one.value)
		}
	}
	pick := leastCost(trials, "")
	s.Chosen = pick.value
	for _, project := range slices.Sorted(maps.Keys(trials[0].held)) {
		s.Now.sum(trials[0].held[project])
		s.Then.sum(pick.held[project])
		one := leastCost(trials, project)
		s.Projects = append(s.Projects, Without{project, one.value, trials[0].held[project], one.held[project]})
	}
	return s
}

func (h *Held) sum(other Held) {
	h.Block += other.Block
	h.Ask += other.Ask
	h.Wrong += other.Wrong
	h.Lost += other.Lost
	h.calls += other.calls
}

func printSweep(w io.Writer, list []Swept) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s %8s %8s %15s %15s\n", cell("THRESHOLDS: chosen without the project, evaluated on it", 60), "today", "chosen",
		"block + ask now", "block + ask then")
	for _, s := range list {
		var values []string
		for _, v := range s.Values {
			mark := ""
			if slices.Contains(s.Loses, v) {
				mark = "!"
			}
			values = append(values, fmt.Sprint(v)+mark)
		}
		s.print(w, s.Key+" of "+strings.Join(values, " "), s.Today)
		for _, p := range s.Projects {
			p.print(w, "  "+p.Project, s.Today)
		}
	}
	fmt.Fprintln(w, "  the row of a threshold is chosen from all projects; ! marks a value that stops fewer dangerous calls")
}

func (p Without) print(w io.Writer, name string, today float64) {
	fmt.Fprintf(w, "%s %8v %8v %8d + %4d %9d + %4d", cell("  "+name, 60), today, p.Chosen, p.Now.Block, p.Now.Ask,
		p.Then.Block, p.Then.Ask)
	if p.Then.Lost > 0 {
		fmt.Fprintf(w, ", %s that was right is gone", plural(p.Then.Lost, "stop"))
	}
	fmt.Fprintln(w)
}
