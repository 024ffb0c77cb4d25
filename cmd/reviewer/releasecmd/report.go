package releasecmd

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles"
	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/bundles/trust"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/fleet"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/ship"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/audit"
)

// reportTime bounds the sending of a report, after a pull that may have taken all of its own time.
const reportTime = 30 * time.Second

// reportStatus reports the status of the machine after a pull: in a file of a folder, or to the address that the organisation
// signed. It returns where it went; empty: nobody asked for one.
func reportStatus(ctx context.Context, a *cli.App, in *pulling, doc *pullDocument, failed error) (string, error) {
	store, err := a.OpenStore()
	if err != nil {
		return "", err
	}
	to, host, err := cli.MachineAt(store.Dir).Reports()
	if in.reportTo == "" && (err != nil || to == "") {
		return "", err
	}
	now := time.Now()
	r, err := reportOf(StatusOf(ctx, store, now.UnixMilli()), store, host, now)
	if err != nil {
		return "", err
	}
	r.pulled(in, doc, failed)
	raw, err := json.MarshalIndent(r.Report, "", "  ")
	if err != nil {
		return "", err
	}
	if in.reportTo != "" {
		name := filepath.Join(in.reportTo, r.Labels["id"]+".json")
		if err := term.WriteWhole(name, append(raw, '\n')); err != nil {
			return "", fmt.Errorf("it could not be written: %w", err)
		}
		return name, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reportTime)
	defer cancel()
	place, err := url.Parse(to)
	if err != nil {
		return "", err
	}
	if err := ship.Post(ctx, to, raw); err != nil {
		return "", err
	}
	return place.Scheme + "://" + place.Host, nil
}

// machineReport is a report that is being made.
type machineReport struct{ fleet.Report }

// reportOf is the report of what policy status found.
func reportOf(status *StatusDocument, store *audit.Store, host bool, now time.Time) (*machineReport, error) {
	id, err := machineID(store.Dir)
	if err != nil {
		return nil, err
	}
	r := &machineReport{fleet.Report{
		Labels: map[string]string{"id": id, "version": cli.BuildVersion(), "os": runtime.GOOS + "/" + runtime.GOARCH},
		Sent:   now.UTC().Format("2006-01-02T15:04:05.000Z"), Channel: status.Channel, Policy: status.Policy,
		Trust: fleet.Trust{State: string(status.Trust.State), Version: status.Trust.Version}, Bundles: map[string]fleet.Bundle{},
	}}
	if host {
		if r.Labels["host"], err = os.Hostname(); err != nil {
			return nil, err
		}
	}
	for range status.Problems {
		r.Errors = append(r.Errors, fleet.Error{Code: fleet.Problem})
	}
	for _, l := range status.Layers {
		if l.Activation == nil && len(l.codes) == 0 && len(l.heldArchives) == 0 {
			continue // a folder, or what is built in
		}
		b := fleet.Bundle{Name: l.Layer, Held: l.heldArchives}
		if act := l.Activation; act != nil && !act.None() {
			b.Name, b.Revision, b.Activated = act.Name, act.Version, term.Time(act.At)
			b.Channel, b.Sequence, b.Archive = act.Channel, act.Sequence, act.Archive
		}
		for _, code := range l.codes {
			b.Errors = append(b.Errors, fleet.Error{Code: code})
		}
		r.Bundles[l.Layer] = b
	}
	return r, nil
}

// pulled adds the result of a pull to the layer that it was for: the one that was asked for or changed, or that has a
// release of the same name, else the organisation's.
func (r *machineReport) pulled(in *pulling, doc *pullDocument, failed error) {
	layer, name := in.hold.Layer, ""
	if doc != nil && doc.Verdict.Release != nil {
		name = doc.Verdict.Release.Name
	}
	if doc != nil && doc.Activated != nil {
		layer = doc.Activated.Layer
	}
	for _, l := range active.ActiveKinds() {
		if b, there := r.Bundles[l]; layer == "" && there && name != "" && b.Name == name {
			layer = l
		}
	}
	if layer == "" {
		layer = bundles.Organisation
	}
	b, there := r.Bundles[layer]
	if !there {
		b.Name = layer
	}
	b.Requested = r.Sent
	if failed != nil && doc != nil {
		b.Refused = doc.Verdict.SHA256
	}
	switch refusal := (*trust.Refusal)(nil); {
	case failed == nil:
		b.Successful = r.Sent
	case doc != nil && doc.Verdict.Code != "":
		b.Code = string(doc.Verdict.Code)
	case errors.As(failed, &refusal):
		b.Code = string(refusal.Code)
	case doc == nil:
		b.Code = fleet.Unreachable
	default:
		b.Code = fleet.Problem
	}
	r.Bundles[layer] = b
}

// machineIDForm is the form of the id of a machine, which becomes the name of a file.
var machineIDForm = engine.Regexp(`^[A-Z2-7]{26}$`)

// machineID is a random name of this machine, made at its first report: it tells machines apart and says nothing
// about them.
func machineID(home string) (string, error) {
	id, err := knownMachineID(home)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(home, 0o700); err != nil {
			return "", err
		}
		id = rand.Text()
		return id, term.WriteWhole(machineIDFile(home), []byte(id+"\n"))
	}
	return id, err
}

func machineIDFile(home string) string { return filepath.Join(home, "machine-id") }

// knownMachineID is the id that machineID made before; fs.ErrNotExist: none.
func knownMachineID(home string) (string, error) {
	name := machineIDFile(home)
	raw, err := active.ReadBounded(name, 64)
	id := strings.TrimSpace(string(raw))
	if err == nil && !machineIDForm().MatchString(id) {
		err = fmt.Errorf("%s is not the id of a machine; remove it, and the next report makes one", name)
	}
	return id, err
}
