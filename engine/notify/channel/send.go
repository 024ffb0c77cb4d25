package channel

import (
	"context"

	"github.com/agent-reviewer/reviewer/engine/notify"
)

// sender sends an entry.
type sender interface {
	send(ctx context.Context, e notify.Entry) error
}

// named is a sender with the name of its channel.
type named struct {
	name string
	sender
}

// Name implements notify.Channel.
func (n *named) Name() string { return n.name }

// Send implements notify.Channel.
func (n *named) Send(ctx context.Context, e notify.Entry) error { return n.send(ctx, e) }

// broken is a channel that cannot be used. It may be repaired before the next attempt,
// by another process: so its error is not permanent.
func broken(err error) sender { return failing{err} }

type failing struct{ err error }

func (f failing) send(context.Context, notify.Entry) error { return f.err }
