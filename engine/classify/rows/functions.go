package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"accounts", "agent", "allocate", "ansible", "archive", "at", "attach", "awk", "awsCopy", "brew", "browse", "bucket", "build", "bwrap",
		"cargo", "carry", "compile", "composed", "container", "convert", "copyFiles", "copyHere", "coreutils", "cpio", "create", "crontab",
		"curl", "debugFS", "destroysDisk", "disks", "dropDatabase", "dumps", "edit", "emptyTrash", "encode",
		"encrypt", "endlessOutput", "environment", "fd", "fetchAll", "find", "firewall", "ftp", "fuser",
		"ghAPI", "git", "goCommand", "grantsRole", "history", "httpie", "interpreter", "javaTool", "journal", "kill", "killNamed",
		"kubeDelete", "kubeExec", "languagePackages", "link", "listFiles", "lookUp", "looksUp", "mail", "manifests", "manual", "migrates", "mongo", "move",
		"moveToTrash", "nameUpdates", "netcat", "nix", "nix-shell", "nodePackages", "openssl", "otherVCS", "parallel", "patch",
		"permit", "power", "printFiles", "processLimits", "publisher", "pythonPackages", "query", "readOperands", "redis",
		"remove", "removeOne", "reviewer", "rsync", "scp", "screen", "script", "search", "secrets", "sed", "server",
		"services", "settings", "shred", "sortFiles", "splitFile", "sqlClient", "ssh", "sshKeys",
		"sudoItself", "systemPackages", "tar", "tee", "tmux", "tracer", "transform", "truncate", "tunnel",
		"unbounded", "uniq", "watchers", "wget", "whichProgram", "windowsShell", "xargs",
	}
}
