package simulate

// Sweep is the impact of each value of a setting, or of each combination of values of several.
type Sweep struct {
	V       int        `json:"v"`       // ImpactVersion
	Version int        `json:"version"` // the same, under its former name
	Key     string     `json:"key"`     // the settings, such as risk.high_threshold
	Rows    []SweepRow `json:"rows"`    // by value

	Skipped []SkippedValue `json:"skipped,omitempty"` // values that the setting cannot have, in order
}

// SkippedValue is a value that was not tried.
type SkippedValue struct {
	Value float64 `json:"value"`
	Name  string  `json:"name,omitempty"` // as in SweepRow
	Why   string  `json:"why"`
}

// SweepRow is one value of the setting, or one combination of values.
type SweepRow struct {
	Value  float64 `json:"value"`          // with Name, its place in the sweep, from 1
	Name   string  `json:"name,omitempty"` // the values of several settings, or of one that is not a number
	Impact *Impact `json:"impact"`
}
