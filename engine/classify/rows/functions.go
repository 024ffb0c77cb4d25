package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"accounts", "allocate", "archive", "at", "attach", "awk", "aws", "browse", "bucket", "build", "bwrap", "clusters", "compile",
		"compose", "convert", "copyFiles", "coreutils", "cpio", "create", "crontab", "curl", "destroysDisk", "disks", "docker",
		"dropDatabase", "dumps", "edit", "emptyTrash", "encode", "encrypt", "endlessOutput", "environment", "fd", "fetchAll", "find",
		"firewall", "formats", "ftp", "genericCloud", "gh", "git", "helm", "history", "httpie", "injectedBy", "javaTool", "journal",
		"kafka", "kill", "killNamed", "kubectl", "link", "listFiles", "listens", "lookUp", "looksUp", "mail", "manual", "migrates",
		"mongo", "move", "moveToTrash", "movedBy", "nameUpdates", "netcat", "nodeInstall", "npm", "openssl", "otherSettings",
		"otherVCS", "packageScripts", "parallel", "patch", "permit", "power", "printFiles", "puts", "query", "readOperands", "redis",
		"remove", "removeOne", "replacesGuard", "reports", "rsync", "runScript", "runTask", "scp", "script", "search", "secrets",
		"sed", "server", "serviceTool", "services", "settings", "shred", "sortFiles", "splitFile", "sqlClient", "ssh", "sshKeys",
		"stacks", "sudoItself", "takes", "tar", "tee", "terminal", "terraform", "transform", "trash", "truncate", "tunnel",
		"unbounded", "uniq", "watchers", "wget", "whichProgram", "windowsShell", "xargs",
	}
}
