package main

import (
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// keepLog has a log kept as the settings below audit say. No project's settings
// are among them: its agent could have its own traces deleted.
func keepLog(log *audit.Store, settings map[string]any) {
	section, _ := settings["audit"].(map[string]any)
	log.RetainDays = int(whole(section["retain_days"]))
	log.BudgetBytes = whole(section["budget_mb"]) << 20
	log.Sync, _ = section["sync"].(string)
	log.Keep = false
}

// whole reads a whole number of YAML, or of JSON.
func whole(v any) int64 {
	switch n := v.(type) {
	case int:
		return int64(n)
	case float64:
		return int64(n)
	}
	return 0
}
