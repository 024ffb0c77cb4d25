package cli

// Where Windows keeps managed settings of Claude Code in addition to the file: JSON, in
// a value that only administrators can write.
const (
	registryPath  = `SOFTWARE\Policies\ClaudeCode`
	registryValue = "Settings"
	RegistryPlace = `HKLM\` + registryPath + `\` + registryValue
)
