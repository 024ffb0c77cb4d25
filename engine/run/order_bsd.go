//go:build unix && !linux

package run

// cloexec is nothing here: no files are received.
const cloexec = 0
