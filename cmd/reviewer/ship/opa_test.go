package ship

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-reviewer/reviewer/engine/await"
	"github.com/open-policy-agent/opa/v1/download"
	"github.com/open-policy-agent/opa/v1/keys"
	"github.com/open-policy-agent/opa/v1/logging"
	"github.com/open-policy-agent/opa/v1/plugins/rest"
	"github.com/open-policy-agent/opa/v1/sdk"
)

// allowed asks an OPA for the one value of parcelOf's policy.
func allowed(t *testing.T, opa *sdk.OPA) string {
	r, err := opa.Decision(t.Context(), sdk.DecisionOptions{Path: "/shop/allow"})
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(r.Result)
}

// newOPA starts a stock OPA that gets its bundle from a service.
func newOPA(t *testing.T, config string) *sdk.OPA {
	t.Helper()
	opa, err := sdk.New(soon(t, 10*time.Second), sdk.Options{ID: "test", Config: strings.NewReader(config), Logger: logging.NewNoOpLogger()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opa.Stop(context.WithoutCancel(t.Context())) })
	return opa
}

// A stock OPA downloads a bundle from `policy serve`, activates it, and sees an
// update: by asking again, and by waiting.
func TestOPAOfServer(t *testing.T) {
	for name, polling := range map[string]string{
		"polling":      `{"min_delay_seconds": 1, "max_delay_seconds": 1}`,
		"long polling": `{"long_polling_timeout_seconds": 30}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := parcelOf(t, "1.0.0", "1")
			p.Name = "shop.tar.gz"
			p.Envelope = envelopeOver(t, p)
			mustPush(t, dir, p, Options{})
			opa := newOPA(t, fmt.Sprintf(`{"services": {"s": {"url": %q}}, "bundles": {"shop": {"service": "s", "resource": "/bundles/shop.tar.gz", "polling": %s}}}`, serving(t, dir), polling))
			if got := allowed(t, opa); got != "1" {
				t.Fatalf("OPA says %s, want 1", got)
			}
			next := parcelOf(t, "2.0.0", "2")
			next.Name = p.Name
			next.Envelope = envelopeOver(t, next)
			mustPush(t, dir, next, Options{Force: true})
			await.Until(t, "OPA sees the update", func() bool { return allowed(t, opa) == "2" })
		})
	}
}

// serving serves a folder on this machine, and returns its URL.
func serving(t *testing.T, dir string) string {
	t.Helper()
	s, err := NewServer(dir, log.New(io.Discard, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// OPA's own downloader pulls from a registry what was pushed there, and sees that
// the tag moved.
func TestOPAOfRegistry(t *testing.T) {
	host := newRegistry(t, nil)
	place := "oci://" + host + "/acme/shop:stable"
	one, two := parcelOf(t, "1.0.0", "1"), parcelOf(t, "2.0.0", "2")
	mustPush(t, place, one, Options{})
	client, err := rest.New(fmt.Appendf(nil, `{"name": "s", "url": "http://%s", "type": "oci"}`, host), map[string]*keys.Config{}, rest.Logger(logging.NewNoOpLogger()))
	if err != nil {
		t.Fatal(err)
	}
	config := download.Config{}
	if err := config.ValidateAndInjectDefaults(); err != nil {
		t.Fatal(err)
	}
	var got []string
	d := download.NewOCI(config, client, host+"/acme/shop:stable", filepath.Join(t.TempDir(), "store")).
		WithCallback(func(_ context.Context, u download.Update) error {
			if u.Error != nil || u.Bundle == nil {
				got = append(got, fmt.Sprint(u.Error))
				return nil
			}
			got = append(got, u.Bundle.Manifest.Revision+" "+u.ETag[:8])
			return nil
		})
	for _, step := range []func(){func() {}, func() {}, func() { mustPush(t, place, two, Options{Force: true}) }} {
		step()
		if err := d.Trigger(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"1.0.0 " + sha(one.Archive)[:8], "<nil>", "2.0.0 " + sha(two.Archive)[:8]}
	if g, w := asJSON(t, got), asJSON(t, want); !bytes.Equal(g, w) {
		t.Errorf("OPA got %s, want %s", g, w)
	}
}

func asJSON(t *testing.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
