package channel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/notify"
	"github.com/agent-reviewer/reviewer/engine/settings"
)

// Schedules returns what each channel gets, and when. A channel whose quiet hours are wrong
// has none: too many messages are better than none, and Problems reports it.
func Schedules(list []settings.Channel) map[string]notify.Schedule {
	all := map[string]notify.Schedule{}
	for _, c := range list {
		if _, seen := all[c.Name]; seen {
			continue // of two layers, the first one's
		}
		quiet, err := parseQuiet(c.Quiet)
		if err != nil {
			quiet = notify.Quiet{}
		}
		all[c.Name] = notify.Schedule{About: c.About, After: seconds(c.AfterSeconds),
			Digest: seconds(c.DigestSeconds), PerHour: int(c.PerHour), Quiet: quiet}
	}
	return all
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

func parseQuiet(q settings.Quiet) (notify.Quiet, error) {
	var parsed notify.Quiet
	if q.From == "" && q.To == "" {
		return parsed, nil
	}
	for _, of := range []struct {
		text string
		into *int
	}{{q.From, &parsed.From}, {q.To, &parsed.To}} {
		at, err := time.Parse("15:04", of.text)
		if err != nil {
			return parsed, fmt.Errorf("quiet: %q is not a time of day, such as 22:00", of.text)
		}
		*of.into = at.Hour()*60 + at.Minute()
	}
	if parsed.From == parsed.To {
		return parsed, fmt.Errorf("quiet: it begins and ends at %s; remove it, or give another end", q.From)
	}
	for _, name := range q.Days {
		day := slices.Index([]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, strings.ToLower(name))
		if day < 0 {
			return parsed, fmt.Errorf("quiet: %q is not a day, such as sat", name)
		}
		parsed.Days = append(parsed.Days, time.Weekday(day))
	}
	parsed.Zone = time.Local
	if q.Zone != "" {
		zone, err := time.LoadLocation(q.Zone)
		if err != nil {
			return parsed, fmt.Errorf("quiet: %q is not a time zone, such as Europe/Berlin", q.Zone)
		}
		parsed.Zone = zone
	}
	return parsed, nil
}
