package main

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"strings"

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
