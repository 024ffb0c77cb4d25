package engine

import (
	"fmt"
	"time"
)

// Moment reads the text of an expires_at, which is RFC 3339 or a date (its midnight UTC), and returns Unix milliseconds.
func Moment(text string) (int64, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is not a date; expected one such as 2027-01-31, or 2027-01-31T18:00:00Z", text)
	}
	return t.UnixMilli(), nil
}
