package reviewcmd

import (
	"context"
	"errors"

	"github.com/agent-reviewer/reviewer/engine"
)

// ErrNoCall means that a document is an event that is not a call.
var ErrNoCall = errors.New("the event is not a call before or after it ran: " +
	"only an agent's hook can report prompts and the rest of a session")

// One decides about one call in a session of its own, whatever session the document names. An
// error says, without secrets, what is wrong with the document.
func (d *Desk) One(ctx context.Context, doc []byte) (*reviewed, error) {
	d.N++
	e, _, err := d.Decode(doc)
	if err == nil && e.Phase != engine.PhasePre && e.Phase != engine.PhasePost {
		err = ErrNoCall
	}
	if err != nil {
		return nil, errors.New(d.Classifier.Mask(err.Error()))
	}
	if e.Time == 0 && d.Now != nil {
		e.Time = d.Now()
	}
	r, err := d.session(e, false)
	if err != nil {
		return nil, errors.New(d.Classifier.Mask(err.Error()))
	}
	action, happened := r.Next(ctx, e)
	line := lineOf(d.Classifier.Mask(idOf(doc, d.N)), &action, happened)
	return &line, nil
}
