// Package apiclient is a client of the HTTP API of the resident process, for programs in Go.
//
// Out of scope: where the token and the approval code come from. The code is for a person to
// give: a program that keeps it decides in their place.
package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/engine/approval"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
)

// maxAnswer limits what is read of an answer, in bytes.
const maxAnswer = 256 << 20

// Client sends requests to one resident process.
type Client struct {
	base, token string
	http        *http.Client
}

// New returns a client for an address such as 127.0.0.1:9470. It follows no redirects and uses
// no proxy, which would see the token.
func New(address, token string) *Client {
	transport := &http.Transport{ResponseHeaderTimeout: 2 * time.Minute, IdleConnTimeout: 30 * time.Second}
	never := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{"http://" + address, token, &http.Client{Transport: transport, CheckRedirect: never}}
}

// ReadToken reads the file with the token.
func ReadToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}

// RefusedError is the answer to a request that was refused.
type RefusedError struct {
	Status int
	Why    api.Error
}

// Error describes the problem and what to do about it.
func (e *RefusedError) Error() string { return fmt.Sprintf("%s (%d)", e.Why.Error(), e.Status) }

// Questions lists the questions that wait.
func (c *Client) Questions(ctx context.Context) ([]approval.Request, error) {
	var all api.Questions
	err := c.do(ctx, http.MethodGet, "/v1/approvals", "", nil, &all)
	return all.Questions, err
}

// Question returns a question that waits.
func (c *Client) Question(ctx context.Context, id string) (approval.Request, error) {
	var q approval.Request
	err := c.do(ctx, http.MethodGet, "/v1/approvals/"+url.PathEscape(id), "", nil, &q)
	return q, err
}

// Answer answers a question with the approval code.
func (c *Client) Answer(ctx context.Context, id, code string, a api.Answer) (api.Answered, error) {
	var done api.Answered
	err := c.do(ctx, http.MethodPost, "/v1/approvals/"+url.PathEscape(id)+"/answer", code, a, &done)
	return done, err
}

// AnswerAll gives several answers. The results are in their order.
func (c *Client) AnswerAll(ctx context.Context, code string, list []api.BulkAnswer) ([]api.BulkResult, error) {
	var all api.BulkResults
	err := c.do(ctx, http.MethodPost, "/v1/approvals/answer", code, api.Bulk{Answers: list}, &all)
	return all.Results, err
}

// Sessions lists the sessions in the log.
func (c *Client) Sessions(ctx context.Context) ([]api.Session, error) {
	var all api.Sessions
	err := c.do(ctx, http.MethodGet, "/v1/sessions", "", nil, &all)
	return all.Sessions, err
}

// Session returns a session and its questions.
func (c *Client) Session(ctx context.Context, id string) (api.SessionDetail, error) {
	var one api.SessionDetail
	err := c.do(ctx, http.MethodGet, "/v1/sessions/"+url.PathEscape(id), "", nil, &one)
	return one, err
}

// Review returns the decision about an event: a document as `reviewer review` reads it.
func (c *Client) Review(ctx context.Context, event json.RawMessage) (api.Review, error) {
	var r api.Review
	err := c.do(ctx, http.MethodPost, "/v1/review", "", event, &r)
	return r, err
}

// do sends a request and decodes its answer.
func (c *Client) do(ctx context.Context, method, path, code string, doc, into any) error {
	r, err := c.request(ctx, method, path, doc)
	if err != nil {
		return err
	}
	if code != "" {
		r.Header.Set(api.CodeHeader, code)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close() // it was read
	if answer.StatusCode != http.StatusOK {
		return refused(answer)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("%s %s: read the answer: %w", method, path, err)
	}
	return nil
}

func (c *Client) request(ctx context.Context, method, path string, doc any) (*http.Request, error) {
	var body io.Reader = http.NoBody
	if doc != nil {
		b, err := json.Marshal(doc)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if doc != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

func refused(answer *http.Response) error {
	e := &RefusedError{Status: answer.StatusCode}
	if json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&e.Why) != nil || e.Why.Code == "" {
		return fmt.Errorf("another program answers at this address: %s", answer.Status)
	}
	return e
}
