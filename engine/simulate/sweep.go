package simulate

// Sweep is what each value of one setting would do.
type Sweep struct {
	Version int        `json:"version"` // ImpactVersion
	Key     string     `json:"key"`     // the setting, such as risk.high_threshold
	Rows    []SweepRow `json:"rows"`    // by value
}

// SweepRow is one value of it.
type SweepRow struct {
	Value  float64 `json:"value"`
	Impact *Impact `json:"impact"`
}
