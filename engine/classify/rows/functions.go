package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"agent", "ansible", "at", "awk", "awsCopy", "bindMount", "brew", "browse", "bucket", "build", "bwrap", "cargo", "carry",
		"compile", "composed", "container", "convert", "copyFiles", "copyLinks", "coreutils", "crontab", "curl", "destroysDisk",
		"dropsDatabase", "dropsRole", "editorCommands", "editorInput", "editorScript", "encode", "endlessOutput", "environment",
		"fd", "fetchAll", "fifo", "find", "ftp", "ghAPI", "git", "goCommand", "grantsRole", "httpie", "interpreter", "javaTool",
		"kill", "kubeDelete", "kubeExec", "languagePackages", "link", "listFiles", "looksUp", "lookUp", "mail", "makeFolders",
		"manual", "mirror", "mongo", "move", "nameUpdates", "netcat", "nix", "nix-shell", "nodePackages", "openssl", "otherVCS",
		"parallel", "patch", "permit", "printFiles", "publisher", "pythonPackages", "query", "readOperands", "redis",
		"remoteShell", "resetsDatabase", "restoresDatabase", "reviewer", "scp", "screen", "script", "search", "secrets", "sed",
		"server", "sortFiles", "splitFilter", "sqlClient", "ssh", "sshKeys", "stopsServer", "systemPackages", "tarArchive",
		"tarPrograms", "tee", "tmux", "transfer", "transform", "tunnel", "unbounded", "uniq", "wget", "whichProgram",
		"windowsShell", "xargs", "zipTest",
	}
}
