package rego

// elsewhere are settings that no decision depends on, and the tests that show
// what does.
func elsewhere() map[string]string {
	return map[string]string{
		"windows":                                     "bundles: windows are read when a policy is assembled",
		"history.last":                                "bundles, TestView: it is read when a policy is assembled",
		"patterns.enabled":                            "bundles, TestSwitchedOffPatterns",
		"patterns.sensitivity":                        "bundles, TestSensitivity",
		"patterns.thresholds":                         "bundles, TestThresholdsOfPatterns",
		"patterns.enabled_patterns":                   "bundles, TestEnabledPatterns",
		"history.similar":                             "bundles/default/cases/patterns/stuck: facts count what is similar",
		"patterns.factors.low":                        "bundles, TestSensitivity",
		"patterns.factors.medium":                     "bundles, TestSensitivity",
		"patterns.factors.high":                       "bundles, TestSensitivity",
		"mode":                                        "bundles, TestSettingsErrors: it has one value, and others are refused",
		"audit.log_level":                             "bundles, TestSettingsErrors: it has one value, and others are refused",
		"interventions.auto_cleanup":                  "bundles, TestSettingsErrors: it has one value, and others are refused",
		"audit.export_format":                         "cmd/reviewer, TestScript/audit-export-format",
		"audit.retain_days":                           "cmd/reviewer, TestLogIsKeptAsSettingsSay",
		"audit.budget_mb":                             "cmd/reviewer, TestLogIsKeptAsSettingsSay",
		"audit.policies_mb":                           "cmd/reviewer, TestPoliciesAreKeptAsSettingsSay",
		"audit.sync":                                  "cmd/reviewer, TestLogIsKeptAsSettingsSay",
		"interventions.notification_channels":         "cmd/reviewer, TestScript/incident-notify: it is read when people are told",
		"interventions.notifications.attempts":        "engine/notify, TestBackOff",
		"interventions.notifications.first_seconds":   "engine/notify, TestBackOff",
		"interventions.notifications.factor":          "engine/notify, TestBackOff",
		"interventions.notifications.longest_seconds": "engine/notify, TestBackOff",
		"interventions.notifications.timeout_seconds": "engine/notify, TestAHangingChannelIsCutOff",
		"interventions.notifications.keep_days":       "engine/notify, TestFinishedEntriesGo",
		"interventions.encrypt_incidents_to":          "cmd/reviewer, TestScript/incident-encrypt: it is read when one is exported",
		"interventions.preserve_incident_data_days":   "cmd/reviewer, TestIncidentsAreKeptAsSettingsSay",
		"interventions.recommendations":               "cmd/reviewer/incidentcmd, TestRecommendationsAreAccepted",
		"interventions.kinds":                         "rego tests of policy/intervention.rego, and cmd/reviewer, TestScript/incident-own-kind",
		"redact.pii":                                  "cmd/reviewer, TestScript/redact: what is not recorded cannot be decided upon",
		"interventions.stops.scope":                   "engine/review, TestInherit",
		"interventions.texts.copied":                  "engine/review, TestInherit",
		"interventions.texts.conditions":              "engine/review, TestInheritConditions",
		"interventions.texts.nearby":                  "engine/review, TestInherit",
		"interventions.resume.sensitivity":            "bundles, TestSensitivityOfLimitedSessions",
	}
}
