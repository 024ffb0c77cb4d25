//go:build !linux

package serve

// private reports nothing: clients use no socket on this system.
func private(string) error { return nil }

// shared reports nothing, as private does.
func shared(string) string { return "" }
