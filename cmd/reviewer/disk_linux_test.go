package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// diskSize has room for a kept policy (1.1 MB) and for some records.
const diskSize = "size=4m,mode=700"

// canMount tries it: root in a container often may not.
func canMount() bool {
	dir, err := os.MkdirTemp("", "reviewer-mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, diskSize); err != nil {
		return false
	}
	return syscall.Unmount(dir, 0) == nil
}

// disk DIR makes a folder a small disk of its own.
func disk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: disk DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", 0, diskSize))
	ts.Defer(func() { ts.Check(syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

// readonly DIR makes a disk one that can only be read.
func readOnly(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: readonly DIR")
	}
	ts.Check(syscall.Mount("", ts.MkAbs(args[0]), "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
}

// fill DIR fills the disk to the last byte.
func fill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fill DIR")
	}
	f, err := os.Create(filepath.Join(ts.MkAbs(args[0]), "full"))
	ts.Check(err)
	defer f.Close()
	block := make([]byte, 512)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		ts.Fatalf("%v", err)
	}
}
