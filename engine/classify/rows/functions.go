package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"at", "awk", "aws", "bindMount", "browse", "bucket", "build", "bwrap", "clusters", "compile", "compose", "convert",
		"copyFiles", "copyLinks", "coreutils", "crontab", "curl", "destroysDisk", "docker", "dropDatabase", "dumps", "editorCommands",
		"editorInput", "editorScript", "encode", "endlessOutput", "environment", "fd", "fetchAll", "fifo", "find", "formats", "ftp",
		"genericCloud", "gh", "gitAliases", "gitApply", "gitCheckout", "gitClean", "gitClone", "gitConfig", "gitDeinit", "gitDiff",
		"gitDiscard", "gitElsewhere", "gitFetchesModule", "gitForeach", "gitHooks", "gitLists", "gitMakesTree", "gitMove", "gitPager",
		"gitRemovesTree", "gitRestore", "gitSaves", "gitSettings", "gitShows", "gitTransports", "gitUnseen", "helm", "httpie",
		"injectedBy", "javaTool", "kafka", "kill", "kubectl", "link", "listFiles", "listens", "lookUp", "looksUp", "mail",
		"makeFolders", "manual", "migrates", "mirror", "mongo", "move", "movedBy", "nameUpdates", "netcat", "nodeInstall", "npm",
		"openssl", "otherSettings", "packageScripts", "parallel", "patch", "permit", "printFiles", "puts", "query", "readOperands",
		"redis", "remoteShell", "replacesGuard", "reports", "runScript", "runTask", "scp", "script", "search", "secrets", "sed",
		"server", "serviceTool", "sortFiles", "splitFilter", "sqlClient", "ssh", "sshKeys", "stacks", "tarArchive", "tarPrograms",
		"tee", "terminal", "terraform", "transfer", "transform", "trash", "tunnel", "unbounded", "uniq", "wget", "whichProgram",
		"windowsShell", "xargs", "zipTest",
	}
}
