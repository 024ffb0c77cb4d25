//go:build !windows

package cli

// RegistrySettings returns the managed settings of Claude Code in the registry of
// Windows; other systems have none.
func RegistrySettings() ([]byte, error) { return nil, nil }
