package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"agent", "at", "awk", "aws", "bindMount", "brew", "browse", "bucket", "build", "bwrap", "cargo", "carry", "clusters",
		"compile", "compose", "convert", "copyFiles", "copyLinks", "coreutils", "crontab", "curl", "destroysDisk", "docker",
		"dropDatabase", "dumps", "editorCommands", "editorInput", "editorScript", "encode", "endlessOutput", "environment", "fd",
		"fetchAll", "fifo", "find", "ftp", "genericCloud", "gh", "git", "goCommand", "helm", "httpie", "interpreter", "javaTool",
		"kafka", "kill", "kubectl", "languagePackages", "link", "listFiles", "looksUp", "lookUp", "mail", "makeFolders", "manual",
		"migrates", "mirror", "mongo", "move", "nameUpdates", "netcat", "nix", "nix-shell", "nodePackages", "openssl", "otherVCS",
		"parallel", "patch", "permit", "printFiles", "publisher", "pythonPackages", "query", "readOperands", "redis", "remoteShell",
		"reviewer", "scp", "screen", "script", "search", "secrets", "sed", "server", "serviceTool", "sortFiles", "splitFilter",
		"sqlClient", "ssh", "sshKeys", "stacks", "systemPackages", "tarArchive", "tarPrograms", "tee", "terraform", "tmux", "transfer",
		"transform", "tunnel", "unbounded", "uniq", "wget", "whichProgram", "windowsShell", "xargs", "zipTest",
	}
}
