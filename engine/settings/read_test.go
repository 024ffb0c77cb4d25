package settings

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Settings are read whether they come from YAML or from JSON, and from a decoder that keeps numbers as they are written.
func TestRead(t *testing.T) {
	whole, broken := any(30), any(0.25)
	for range 3 {
		s, err := Read(map[string]any{
			"enabled": false, "mode": "async", "grant": "proven", "unattended_modes": []any{"bypass", "plan"},
			"history":  map[string]any{"last": whole, "similar": broken},
			"windows":  map[string]any{"recent": map[string]any{"last": whole}, "hour": map[string]any{"for": "1h"}},
			"patterns": map[string]any{"enabled_patterns": []any{}, "thresholds": map[string]any{"loop": whole}},
			"interventions": map[string]any{
				"notification_channels": []any{map[string]any{"name": "a", "quiet": map[string]any{"from": "22:00"}}},
				"recommendations":       map[string]any{"*": map[string]any{"configuration": map[string]any{"a": whole}}},
			},
			"of_policy_only": map[string]any{"x": 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.Enabled || s.Mode != "async" || s.Grant != "proven" || strings.Join(s.UnattendedModes, " ") != "bypass plan" {
			t.Errorf("%+v", s)
		}
		if s.History != (History{30, 0.25}) || s.Windows["recent"].Last != 30 || s.Windows["hour"].For != "1h" || s.Patterns.Thresholds["loop"] != 30 {
			t.Errorf("%+v, %+v, %+v", s.History, s.Windows, s.Patterns)
		}
		if c := s.Interventions.NotificationChannels; len(c) != 1 || c[0].Name != "a" || c[0].Quiet.From != "22:00" {
			t.Errorf("%+v", c)
		}
		if len(s.Interventions.Recommendations["*"].Configuration) != 1 {
			t.Errorf("%+v", s.Interventions.Recommendations)
		}
		if s.Patterns.EnabledPatterns == nil || s.Patterns.Enabled != true {
			t.Errorf("an empty list is absent, or an absent switch is off: %+v", s.Patterns)
		}
		if whole == any(30) {
			whole, broken = 30.0, 0.25
		} else {
			whole, broken = json.Number("30"), json.Number("0.25")
		}
	}
}

// What cannot be read is named with its path, and the rest is read.
func TestReadWrong(t *testing.T) {
	s, err := Read(map[string]any{
		"mode": 5, "unattended_modes": "plan", "history": []any{}, "enabled": "yes", "run": map[string]any{"tell": []any{"limit", 7}},
		"windows":  map[string]any{"recent": map[string]any{"last": "many"}},
		"patterns": map[string]any{"thresholds": 3}, "audit": map[string]any{"retain_days": json.Number("x")}, "enforcement": "warn",
	})
	for _, want := range []string{
		"setting mode: expected a string, but got int", "setting unattended_modes: expected a list, but got string",
		"setting history: expected an object, but got []interface {}", "setting enabled: expected a bool, but got string",
		"setting run.tell.1: expected a string, but got int", "setting windows.recent.last: expected a number, but got string",
		"setting patterns.thresholds: expected an object, but got int", "audit.retain_days: ",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no error says %q: %v", want, err)
		}
	}
	if s.Enforcement != "warn" || s.Run.Tell[0] != "limit" {
		t.Errorf("the rest was not read: %+v", s)
	}
}

// Without settings, what is on by default is on, and nothing else is set.
func TestReadNothing(t *testing.T) {
	s, err := Read(nil)
	want := Settings{Enabled: true}
	want.Patterns.Enabled = true
	if err != nil || !reflect.DeepEqual(s, want) {
		t.Errorf("%+v, %v", s, err)
	}
}
