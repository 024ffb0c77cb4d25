package apiclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// again is the time that the client waits before it connects again.
const again = 2 * time.Second

// Events follows the events until the context ends or the request is refused. If the
// connection breaks, it connects again and continues after the last event.
func (c *Client) Events(ctx context.Context) iter.Seq2[api.Event, error] {
	return func(yield func(api.Event, error) bool) {
		last := ""
		for {
			more, err := c.stream(ctx, &last, yield)
			switch refusal := new(RefusedError); {
			case !more:
				return
			case ctx.Err() != nil:
				yield(api.Event{}, ctx.Err())
				return
			case errors.As(err, &refusal):
				yield(api.Event{}, err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(again):
			}
		}
	}
}

// stream yields the events of one connection. more: the caller wants to continue.
func (c *Client) stream(ctx context.Context, last *string, yield func(api.Event, error) bool) (more bool, err error) {
	r, err := c.request(ctx, http.MethodGet, "/v1/events", nil)
	if err != nil {
		return true, err
	}
	if *last != "" {
		r.Header.Set("Last-Event-ID", *last)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return true, err
	}
	defer answer.Body.Close() // it was read
	if answer.StatusCode != http.StatusOK {
		return true, refused(answer)
	}
	return readEvents(answer.Body, last, yield)
}

func readEvents(from io.Reader, last *string, yield func(api.Event, error) bool) (more bool, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			*last = value
		case "data":
			var e api.Event
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				return true, fmt.Errorf("read event: %w", err)
			}
			if !yield(e, nil) {
				return false, nil
			}
		}
	}
	return true, lines.Err()
}
