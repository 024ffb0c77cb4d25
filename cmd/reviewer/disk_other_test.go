//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// Mounting a small disk is only known for Linux.
func canMount() bool { return false }

func disk(ts *testscript.TestScript, _ bool, _ []string)     { ts.Fatalf("no disk can be mounted") }
func fill(ts *testscript.TestScript, _ bool, _ []string)     { ts.Fatalf("no disk can be mounted") }
func readOnly(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no disk can be mounted") }
