package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"agent", "at", "awk", "aws", "bindMount", "brew", "browse", "bucket", "bwrap", "cargo", "carry", "clusters", "compose",
		"convert", "copyFiles", "copyLinks", "coreutils", "crontab", "curl", "decodeBase64", "decodeHex", "destroysDisk", "docker",
		"dropDatabase", "dumps", "editorCommands", "editorInput", "editorScript", "endlessOutput", "fd", "fetchAll", "fifo", "find",
		"ftp", "genericCloud", "gh", "git", "goCommand", "helm", "httpie", "interpreter", "javaTool", "justRecipes", "kafka", "kill",
		"kubectl", "languagePackages", "link", "lookUp", "mail", "makeFolders", "makeTargets", "manual", "migrates", "mirror", "mongo",
		"move", "nameUpdates", "netcat", "nix", "nix-shell", "nodePackages", "openssl", "otherVCS", "parallel", "patch", "permit",
		"printFiles", "publisher", "pythonPackages", "redis", "remoteShell", "reverse", "reviewer", "scp", "screen", "script",
		"secrets", "sed", "server", "serviceTool", "splitFilter", "sqlClient", "ssh", "sshKeys", "stacks", "systemPackages",
		"tarArchive", "tarPrograms", "taskCommands", "tee", "terraform", "tmux", "transfer", "translate", "tunnel", "unbounded",
		"wget", "whichProgram", "windowsShell", "xargs", "zipTest",
	}
}
