package api

import (
	_ "embed"
	"net/http"

	"github.com/agent-reviewer/reviewer/engine/approval"
)

// OpenAPI describes the API as an OpenAPI 3.1 document. `go generate ./schemas` writes it.
//
//go:embed openapi.json
var OpenAPI []byte

// Operation is a request that the API answers.
type Operation struct {
	ID, Method, Path string
	Summary          string
	Open             bool // needs no token
	Code             bool // needs the approval code
	Takes            any  // document of the request; nil: none
	Gives            any  // document of the answer; nil: a stream of Event, or this description
	Refuses          []int
}

// Limit returns how long the document of a request may be, in bytes.
func (o *Operation) Limit() int64 {
	switch o.ID {
	case ReviewEvent:
		return MaxReviewBody
	case AnswerQuestions:
		return MaxBulkBody
	}
	return MaxBody
}

// Document is any document of a client: an event of an agent, or one of reviewer's own form.
type Document struct{}

// The ids of the operations.
const (
	ListQuestions   = "listQuestions"
	GetQuestion     = "getQuestion"
	AnswerQuestion  = "answerQuestion"
	AnswerQuestions = "answerQuestions"
	ListSessions    = "listSessions"
	GetSession      = "getSession"
	StreamEvents    = "streamEvents"
	ReviewEvent     = "reviewEvent"
	GetOpenAPI      = "getOpenAPI"
)

// Operations lists the operations.
func Operations() []Operation {
	const (
		bad, gone, none, conflict = http.StatusBadRequest, http.StatusGone, http.StatusNotFound, http.StatusConflict
		long, kind                = http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType
		locked, busy              = http.StatusTooManyRequests, http.StatusServiceUnavailable
	)
	return []Operation{
		{ID: ListQuestions, Method: http.MethodGet, Path: "/v1/approvals", Gives: Questions{},
			Summary: "List the questions that wait for an answer, oldest first"},
		{ID: GetQuestion, Method: http.MethodGet, Path: "/v1/approvals/{id}", Gives: approval.Request{}, Refuses: []int{none, conflict, gone},
			Summary: "Show a waiting question"},
		{ID: AnswerQuestion, Method: http.MethodPost, Path: "/v1/approvals/{id}/answer", Code: true, Takes: Answer{}, Gives: Answered{},
			Refuses: []int{bad, none, conflict, gone, long, kind, locked}, Summary: "Approve or deny the call that a question is about"},
		{ID: AnswerQuestions, Method: http.MethodPost, Path: "/v1/approvals/answer", Code: true, Takes: Bulk{}, Gives: BulkResults{},
			Refuses: []int{bad, long, kind, locked}, Summary: "Answer several questions, each by its id and digest"},
		{ID: ListSessions, Method: http.MethodGet, Path: "/v1/sessions", Gives: Sessions{},
			Summary: "List the sessions in the log, the latest first"},
		{ID: GetSession, Method: http.MethodGet, Path: "/v1/sessions/{id}", Gives: SessionDetail{}, Refuses: []int{none},
			Summary: "Show a session and its waiting questions"},
		{ID: StreamEvents, Method: http.MethodGet, Path: "/v1/events", Refuses: []int{busy},
			Summary: "Follow questions, decisions and stops as Server-Sent Events"},
		{ID: ReviewEvent, Method: http.MethodPost, Path: "/v1/review", Takes: Document{}, Gives: Review{},
			Refuses: []int{bad, long, kind, busy}, Summary: "Decide on one event of another program, without recording it"},
		{ID: GetOpenAPI, Method: http.MethodGet, Path: "/v1/openapi.json", Open: true, Summary: "This description"},
	}
}
