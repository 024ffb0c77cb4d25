package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"ansible", "at", "awk", "awsCopy", "bindMount", "browse", "bucket", "bwrap", "composed", "container", "convert", "copyFiles",
		"copyLinks", "coreutils", "crontab", "curl", "decodeBase64", "decodeHex", "destroysDisk", "dropsDatabase", "dropsRole",
		"editorCommands", "editorInput", "editorScript", "endlessOutput", "fd", "fetchAll", "fifo", "find", "formats", "ftp", "ghAPI",
		"gitAliases", "gitApply", "gitCheckout", "gitClean", "gitClone", "gitConfig", "gitDeinit", "gitDiff", "gitDiscard",
		"gitElsewhere", "gitFetchesModule", "gitForeach", "gitHooks", "gitLists", "gitMakesTree", "gitMove", "gitPager",
		"gitRemovesTree", "gitRestore", "gitSaves", "gitSettings", "gitShows", "gitTransports", "gitUnseen", "grantsRole", "httpie",
		"injectedBy", "javaTool", "justRecipes", "kill", "kubeDelete", "kubeExec", "link", "listens", "lookUp", "mail", "makeFolders",
		"makeTargets", "manual", "mirror", "mongo", "move", "movedBy", "nameUpdates", "netcat", "nodeInstall", "npm", "openssl",
		"otherSettings", "packageScripts", "parallel", "patch", "permit", "printFiles", "puts", "redis", "remoteShell",
		"replacesGuard", "reports", "resetsDatabase", "restoresDatabase", "reverse", "runScript", "runTask", "scp", "script", "sed",
		"server", "splitFilter", "sqlClient", "ssh", "sshKeys", "stopsServer", "tarArchive", "tarPrograms", "taskCommands", "tee",
		"terminal", "transfer", "translate", "trash", "tunnel", "unbounded", "wget", "whichProgram", "windowsShell", "xargs",
		"zipTest",
	}
}
