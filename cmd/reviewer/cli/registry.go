package cli

// Location of managed settings of Claude Code on Windows, in addition to the file: JSON, in
// a value that only administrators can write.
const (
	registryPath  = `SOFTWARE\Policies\ClaudeCode`
	registryValue = "Settings"
	RegistryPlace = `HKLM\` + registryPath + `\` + registryValue
)
