package notifycmd

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/notify/channel"
)

// configured is the settings about notifications.
type configured struct {
	channels []notify.Channel
	own      map[string]notify.Channel // kinds of intervention of the organisation's own
	plan     notify.Plan
	when     map[string]notify.Schedule
	problems []channel.Problem
}

// configuration reads the settings of all layers except the project, whose files an
// agent can write.
func configuration(a *cli.App, home string) (configured, error) {
	e, err := cli.MachineAt(home).Effective("")
	if err != nil {
		return configured{}, err
	}
	return configurationOf(a, e.Settings)
}

// configurationOf reads the merged settings of a policy.
func configurationOf(a *cli.App, settings map[string]any) (configured, error) {
	raw, err := json.Marshal(settings["interventions"])
	var doc struct {
		Channels []channel.Config        `json:"notification_channels"`
		Kinds    map[string]channel.Kind `json:"kinds"`
		Plan     struct {
			Attempts int     `json:"attempts"`
			First    int     `json:"first_seconds"`
			Factor   float64 `json:"factor"`
			Longest  int     `json:"longest_seconds"`
			Timeout  int     `json:"timeout_seconds"`
			Days     int     `json:"keep_days"`
		} `json:"notifications"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		return configured{}, fmt.Errorf("read the settings interventions.notifications: %w", err)
	}
	person, err := a.UserHome()
	if err != nil {
		return configured{}, err
	}
	from := channel.Sources{Env: a.Env, Home: person}
	return configured{
		channels: channel.New(doc.Channels, from),
		own:      channel.Own(doc.Kinds, from),
		when:     channel.Schedules(doc.Channels),
		problems: channel.Problems(doc.Channels, from),
		plan: notify.Plan{Attempts: doc.Plan.Attempts, First: seconds(doc.Plan.First), Factor: doc.Plan.Factor, Longest: seconds(doc.Plan.Longest),
			Timeout: seconds(doc.Plan.Timeout), Keep: time.Duration(doc.Plan.Days) * 24 * time.Hour},
	}, nil
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
