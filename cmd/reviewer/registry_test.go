package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	fakeregistry "github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"
)

// registry FILE starts an OCI registry on this machine, which lasts as long as the
// script, and writes its address to FILE.
func registry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: registry FILE")
	}
	s := httptest.NewServer(fakeregistry.New(fakeregistry.WithReferrersSupport(true), fakeregistry.Logger(log.New(io.Discard, "", 0))))
	ts.Defer(s.Close)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.TrimPrefix(s.URL, "http://")+"\n"), 0o644))
}

// collector starts a server of this machine that keeps what is posted to it: the n-th document in FOLDER/n.json. It writes
// its address to a file.
func collector(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: collector FOLDER FILE")
	}
	dir, n := ts.MkAbs(args[0]), atomic.Int64{}
	ts.Check(os.MkdirAll(dir, 0o755))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.URL.Path != "/status" {
			http.Error(w, "expected a report", http.StatusBadRequest)
			return
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", n.Add(1))), body, 0o644); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	ts.Defer(s.Close)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(strings.TrimPrefix(s.URL, "http://")+"\n"), 0o644))
}
