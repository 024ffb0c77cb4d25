package cli

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows/registry"
)

// RegistrySettings returns the managed settings of Claude Code in the registry, nil if
// there are none.
func RegistrySettings() ([]byte, error) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, registryPath, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the registry: %s: %w", RegistryPlace, err)
	}
	defer key.Close()
	text, _, err := key.GetStringValue(registryValue)
	if errors.Is(err, registry.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the registry: %s: %w", RegistryPlace, err)
	}
	return []byte(text), nil
}
