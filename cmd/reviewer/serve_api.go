package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/reviewcmd"
	"github.com/agent-reviewer/reviewer/engine/approval/code"
	"github.com/agent-reviewer/reviewer/engine/approval/queue"
	"github.com/agent-reviewer/reviewer/engine/classify"
	"github.com/agent-reviewer/reviewer/engine/harness"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/engine/serve/api"
	"github.com/agent-reviewer/reviewer/engine/serve/apiserver"
)

// serveAPI serves the HTTP API at an address until the context ends, and returns the address
// with its port. Hooks are answered whether or not it works. busy is called for each request.
func (r *resident) serveAPI(ctx context.Context, a *cli.App, address string, busy func() (done func())) (string, error) {
	l, err := apiserver.Listen(address)
	if err != nil {
		return "", fmt.Errorf("--http: %w", err)
	}
	token, err := apiserver.Token(r.home)
	if err == nil {
		err = cli.KeepAPIAddress(r.home, l.Addr().String())
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("--http: %w", err), l.Close())
	}
	pending := queue.Queue{Log: r.plain}
	r.hub = apiserver.NewHub()
	r.meter.ServesAPI(func() (int, error) {
		list, err := pending.Waiting()
		return len(list), err
	})
	s := &apiserver.Server{Queue: pending, Token: token, Codes: &code.Store{Log: r.plain}, By: cli.UserName(), Events: r.hub,
		Mask:    func(text string) (string, error) { return cli.WithoutSecrets(r.plain, text) },
		Review:  func(ctx context.Context, doc []byte) (*api.Review, error) { return r.rehearse(ctx, a, doc) },
		Counted: r.meter.Requested, Busy: busy}
	go func() {
		if err := s.Serve(ctx, l); err != nil {
			fmt.Fprintln(a.Stderr, "reviewer: the API has ended:", cli.Masked(err.Error()))
		}
	}()
	return l.Addr().String(), nil
}

// rehearse decides about an event of another program in memory.
func (r *resident) rehearse(ctx context.Context, a *cli.App, doc []byte) (*api.Review, error) {
	world, err := a.World(r.home)
	if err != nil {
		return nil, err
	}
	mac, err := cli.PassingMAC()
	if err != nil {
		return nil, err
	}
	desk := &reviewcmd.Desk{Harness: harness.Harnesses()[0],
		Classifier: &classify.Classifier{World: world, MAC: mac, Secrets: bundles.BuiltInTokens(), Program: cli.Program(), Shipped: bundles.BuiltInRows},
		PolicyAt:   func(workspace string) (*review.Policy, error) { return r.load(ctx, r.plain, workspace) },
		Now:        func() int64 { return time.Now().UnixMilli() }}
	return desk.One(ctx, doc)
}

// publish tells the clients of the HTTP API that a call was decided.
func (r *resident) publish(said reply) {
	if r.hub == nil || !said.call || said.decision == "" {
		return
	}
	r.hub.Publish(api.Event{Kind: api.EventDecision, T: time.Now().UnixMilli(), Session: said.key.Session, Harness: said.key.Harness,
		Decision: said.decision})
}
