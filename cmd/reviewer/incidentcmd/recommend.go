package incidentcmd

import (
	"encoding/json"
	"fmt"

	"github.com/agent-reviewer/reviewer/engine/incident"
)

// recommendations reads the rows of a policy's settings.
func recommendations(settings map[string]any) (map[string]incident.Recommendation, error) {
	var doc struct {
		Interventions struct {
			Recommendations map[string]incident.Recommendation `json:"recommendations"`
		} `json:"interventions"`
	}
	raw, err := json.Marshal(settings)
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings interventions.recommendations: %w", err)
	}
	return doc.Interventions.Recommendations, nil
}
