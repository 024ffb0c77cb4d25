package notifycmd

import (
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/notify/channel"
	"github.com/agent-reviewer/reviewer/engine/settings"
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
	return configurationOf(a, &e.Settings)
}

// configurationOf reads the settings of a policy.
func configurationOf(a *cli.App, s *settings.Settings) (configured, error) {
	person, err := a.UserHome()
	if err != nil {
		return configured{}, err
	}
	from := channel.Sources{Env: a.Env, Home: person}
	set, plan := &s.Interventions, &s.Interventions.Notifications
	return configured{
		channels: channel.New(set.NotificationChannels, from),
		own:      channel.Own(set.Kinds, from),
		when:     channel.Schedules(set.NotificationChannels),
		problems: channel.Problems(set.NotificationChannels, from),
		plan: notify.Plan{Attempts: int(plan.Attempts), First: seconds(plan.FirstSeconds), Factor: plan.Factor, Longest: seconds(plan.LongestSeconds),
			Timeout: seconds(plan.TimeoutSeconds), Keep: time.Duration(plan.KeepDays) * 24 * time.Hour},
	}, nil
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
