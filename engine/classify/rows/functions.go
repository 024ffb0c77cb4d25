package rows

// Functions lists the functions in Go that a row may name, for what rows cannot
// say. They are in the package programs.
func Functions() []string {
	return []string{
		"agent", "ansible", "at", "awk", "awsCopy", "bindMount", "brew", "browse", "bucket", "bwrap", "cargo", "carry",
		"composed", "container", "convert", "copyFiles", "copyLinks", "coreutils", "crontab", "curl", "decodeBase64",
		"decodeHex", "destroysDisk", "dropsDatabase", "dropsRole", "editorCommands", "editorInput", "editorScript",
		"endlessOutput", "fd", "fetchAll", "fifo", "find", "ftp", "ghAPI", "git", "goCommand", "grantsRole", "httpie",
		"interpreter", "javaTool", "justRecipes", "kill", "kubeDelete", "kubeExec", "languagePackages", "link", "lookUp",
		"mail", "makeFolders", "makeTargets", "manual", "mirror", "mongo", "move", "nameUpdates", "netcat", "nix", "nix-shell",
		"nodePackages", "openssl", "otherVCS", "parallel", "patch", "permit", "printFiles", "publisher", "pythonPackages",
		"redis", "remoteShell", "resetsDatabase", "restoresDatabase", "reverse", "reviewer", "scp", "screen", "script", "sed",
		"server", "splitFilter", "sqlClient", "ssh", "sshKeys", "stopsServer", "systemPackages", "tarArchive", "tarPrograms",
		"taskCommands", "tee", "tmux", "transfer", "translate", "tunnel", "unbounded", "wget", "whichProgram", "windowsShell",
		"xargs", "zipTest",
	}
}
