package simulate

// Sweep is the impact of each value of one setting.
type Sweep struct {
	V       int        `json:"v"`       // ImpactVersion
	Version int        `json:"version"` // the same, under its former name
	Key     string     `json:"key"`     // the setting, such as risk.high_threshold
	Rows    []SweepRow `json:"rows"`    // by value

	Skipped []SkippedValue `json:"skipped,omitempty"` // values that the setting cannot have, in order
}

// SkippedValue is a value that was not tried.
type SkippedValue struct {
	Value float64 `json:"value"`
	Why   string  `json:"why"`
}

// SweepRow is one value of the setting.
type SweepRow struct {
	Value  float64 `json:"value"`
	Impact *Impact `json:"impact"`
}
