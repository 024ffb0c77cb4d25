package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"ansible", "at", "awk", "awsCopy", "bindMount", "browse", "bucket", "bwrap", "composed", "container", "convert", "copyFiles",
		"copyLinks", "coreutils", "crontab", "curl", "decodeBase64", "decodeHex", "destroysDisk", "dropsDatabase", "dropsRole",
		"editorCommands", "editorInput", "editorScript", "endlessOutput", "fd", "fifo", "find", "formats", "ftp", "ghAPI",
		"gitAliases", "gitApply", "gitCheckout", "gitClean", "gitClone", "gitConfig", "gitDeinit", "gitDiff", "gitDiscard", "gitPushes", "gitRemote",
		"gitElsewhere", "gitFetchesModule", "gitForeach", "gitHooks", "gitLists", "gitMakesTree", "gitMove", "gitPager",
		"gitRemovesTree", "gitRestore", "gitSaves", "gitSettings", "gitShows", "gitSides", "gitTransports", "gitUnseen", "grantsRole",
		"handsShell", "httpie", "injectedBy", "javaTool", "justRecipes", "kill", "kubeDelete", "kubeExec", "link", "listens", "lookUp",
		"makeFolders", "makeTargets", "manual", "mirror", "mongo", "move", "movedBy", "nameUpdates", "nodeInstall", "npm",
		"otherSettings", "packageScripts", "parallel", "patch", "permit", "pours", "printFiles", "puts", "redis", "remoteShell",
		"replacesGuard", "reports", "resetsDatabase", "restoresDatabase", "reverse", "runScript", "runTask", "scp", "script", "sed",
		"sendsKey", "socat", "splitFilter", "sqlClient", "ssh", "stopsServer", "talks", "tarArchive", "tarPrograms", "taskCommands",
		"tee", "terminal", "tlsConnects", "transfer", "translate", "trash", "unbounded", "wget", "whichProgram", "windowsShell",
		"xargs", "zipTest",
	}
}
