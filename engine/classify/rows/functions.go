package rows

// Functions lists the Go functions that a row may name for what rows cannot express. They
// are in the package programs.
func Functions() []string {
	return []string{
		"aimsAtLines", "ansible", "at", "awk", "awsCopy", "bindMount", "browse", "bucket", "bwrap", "commandFiles", "composed",
		"console", "container", "convert", "copyFiles", "copyLinks", "coreutils", "crontab", "curl", "decodeBase64",
		"debuggerCommands", "decodeHex", "destroysDisk", "dropsDatabase", "dropsRole", "editorCommands", "editorInput", "editorScript",
		"endlessOutput", "entryPoint", "expectScript", "fd", "fifo", "fillsBuffer", "find", "formats", "ftp", "ghAPI", "gitAliases",
		"gitApply", "gitCheckout", "gitClean", "gitClone", "gitConfig", "gitDeinit", "gitDiff", "gitDiscard", "gitElsewhere",
		"gitFetchesModule", "gitForeach", "gitHooks", "gitLists", "gitMakesTree", "gitMove", "gitPager", "gitPushes",
		"gitRemote", "gitRemovesTree", "gitRestore", "gitSaves", "gitSettings", "gitShows", "gitSides", "gitStages",
		"gitTransports",
		"gitUnseen", "grantsRole", "handsShell", "httpie", "injectedBy", "javaTool", "justRecipes", "kill", "kubeDelete",
		"kubeExec", "link", "listens", "locks", "lookUp", "makeFolders", "makesDatabase", "makeTargets", "manual", "mayRun", "mirror", "mongo",
		"move", "movedBy", "multiplexer", "nameUpdates", "namesGuardFiles", "nestedCommands", "nodeInstall", "npm",
		"opensTerminal", "otherSettings", "outputCommand", "packageScripts", "parallel", "pastesBuffer", "patch", "permit", "pours",
		"pressesEnter", "printFiles", "puts", "redis", "remoteShell", "replacesGuard", "reports", "resetsDatabase",
		"restoresDatabase", "reverse", "runScript", "runTask", "scp", "script", "sed", "seeksInInput", "seeksLines", "sendsKey", "settingPrograms",
		"setsVariable", "sharesShell", "socat", "splitFilter", "sqlClient", "sqlScripts", "ssh", "stopsServer", "talks", "tarArchive",
		"tarPrograms", "taskCommands", "tee", "tlsConnects", "transfer", "translate", "trash", "typesKeys", "unbounded",
		"unpacks", "unseenCode", "verifies", "wget", "whichProgram", "windowsProgram", "windowsShell", "xargs", "zipTest",
	}
}
