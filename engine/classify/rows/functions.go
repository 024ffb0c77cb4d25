package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"agent", "allocate", "archive", "at", "bindMount", "awk", "aws", "brew", "browse", "bucket", "build", "bwrap",
		"cargo", "carry", "clusters", "compile", "compose", "convert", "copyFiles", "coreutils", "cpio", "create", "crontab",
		"curl", "destroysDisk", "docker", "dropDatabase", "dumps", "edit", "emptyTrash", "encode",
		"endlessOutput", "environment", "fd", "fetchAll", "find", "ftp", "genericCloud", "gh",
		"git", "goCommand", "helm", "httpie", "interpreter", "javaTool", "kafka", "kill",
		"kubectl", "languagePackages", "link", "listFiles", "lookUp", "looksUp", "mail", "manual", "migrates", "mongo", "move",
		"moveToTrash", "nameUpdates", "netcat", "nix", "nix-shell", "nodePackages", "openssl", "otherVCS", "parallel", "patch",
		"permit", "printFiles", "publisher", "pythonPackages", "query", "readOperands", "redis",
		"remove", "removeOne", "reviewer", "rsync", "scp", "screen", "script", "search", "secrets", "sed", "server",
		"serviceTool", "shred", "sortFiles", "splitFile", "sqlClient", "ssh", "sshKeys", "stacks",
		"systemPackages", "tar", "tee", "terraform", "tmux", "transform", "truncate", "tunnel",
		"unbounded", "uniq", "wget", "whichProgram", "windowsShell", "xargs",
	}
}
