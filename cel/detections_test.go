package cel

import "testing"

func TestDetectionsOfConditions(t *testing.T) {
	names := &Names{Definitions: []Definition{
		{ID: "many", Type: "bool", Text: `action.detected["x"] > 3`}, {ID: "lots", Type: "bool", Text: `many || action.name == "a"`},
	}}
	for when, want := range map[string]struct{ x, y bool }{
		``:                                                       {},
		`action.name == "code.exec"`:                             {},
		`action.detected["x"] > 0`:                               {x: true},
		`"y" in action.detected`:                                 {y: true},
		`size(action.detected) > 2`:                              {true, true},
		`action.detected.exists(d, d == "")`:                     {true, true},
		`action == action`:                                       {true, true},
		`has(action . detected)`:                                 {true, true},
		`action.detected[event.tool] > 1`:                        {true, true},
		`event.tool + " action (detected)" == ""`:                {},
		`event.tool == r"\" || action == action || "" == "a"`:    {true, true},
		`action.detected.exists(id, id.startsWith("x"))`:         {x: true},
		`action.detected.exists(id, event.tool.startsWith("x"))`: {true, true},
		`action.detected.exists(id, tool.startsWith("x"))`:       {true, true},
		`lots`:                     {x: true},
		`action.detected['x'] > 0`: {true, true},
	} {
		c := Condition{ID: "a", When: when, Names: names}
		x, some := c.ReadsDetection("x")
		if y, _ := c.ReadsDetection("y"); some != (x || y) || x != want.x || y != want.y {
			t.Errorf("%s reads x: %v, y: %v; want %v", when, x, y, want)
		}
	}
}
