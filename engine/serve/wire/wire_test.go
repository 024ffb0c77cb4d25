package wire

import (
	"bytes"
	"reflect"
	"testing"
)

func TestMessages(t *testing.T) {
	request := Request{Home: "/h", Challenge: "c", Once: "o", Maker: 4711, Args: []string{"claude-code", "PreToolUse"}, Env: []string{"A=1", "B="}, Input: []byte("{}\xff")}
	var gotRequest Request
	if err := gotRequest.Decode(request.Encode()); err != nil || !reflect.DeepEqual(gotRequest, request) {
		t.Errorf("request: %+v, %v", gotRequest, err)
	}
	answer := Answer{Status: Answered, Exit: 2, Wait: 25000, Once: "o", Stdout: []byte("out"), Stderr: []byte("err")}
	var gotAnswer Answer
	if err := gotAnswer.Decode(answer.Encode()); err != nil || !reflect.DeepEqual(gotAnswer, answer) {
		t.Errorf("answer: %+v, %v", gotAnswer, err)
	}
	greeting := Greeting{Home: "/h", Challenge: "c"}
	var gotGreeting Greeting
	if err := gotGreeting.Decode(greeting.Encode()); err != nil || gotGreeting != greeting {
		t.Errorf("greeting: %+v, %v", gotGreeting, err)
	}
}

// TestCut: a part of a message is not a message, and neither is one with more bytes.
func TestCut(t *testing.T) {
	whole := (&Request{Args: []string{"a"}, Input: []byte("x")}).Encode()
	for n := range whole {
		if err := new(Request).Decode(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are a request", n, len(whole))
		}
	}
	if err := new(Request).Decode(append(bytes.Clone(whole), 0)); err == nil {
		t.Error("one byte more is a request")
	}
	if err := new(Answer).Decode(whole); err == nil {
		t.Error("a request is an answer")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&Request{Args: []string{"a"}, Env: []string{"b"}, Input: []byte("x")}).Encode())
	f.Add((&Answer{Stdout: []byte("x")}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		var q Request
		if q.Decode(b) == nil && !bytes.Equal(q.Encode(), b) {
			t.Error("a request decodes to another")
		}
		var a Answer
		if a.Decode(b) == nil && !bytes.Equal(a.Encode(), b) {
			t.Error("an answer decodes to another")
		}
	})
}
