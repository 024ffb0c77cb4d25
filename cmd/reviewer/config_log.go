package main

import (
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// applyAudit applies the audit settings to the log. Settings of a project are ignored:
// its agent could delete its own traces.
func applyAudit(log *audit.Store, settings map[string]any) {
	section, _ := settings["audit"].(map[string]any)
	log.RetainDays = int(whole(section["retain_days"]))
	log.BudgetBytes = whole(section["budget_mb"]) << 20
	log.Sync, _ = section["sync"].(string)
	log.Keep = false
	interventions, _ := settings["interventions"].(map[string]any)
	log.IncidentDays = int(whole(interventions["preserve_incident_data_days"]))
}

// policiesBudget is how many bytes the policies that decided may take.
func policiesBudget(settings map[string]any) int64 {
	section, _ := settings["audit"].(map[string]any)
	return whole(section["policies_mb"]) << 20
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
