package programs

import (
	"github.com/agent-reviewer/reviewer/engine/classify/languages"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"github.com/agent-reviewer/reviewer/engine/classify/tasks"
	"github.com/agent-reviewer/reviewer/engine/classify/windows"
)

// escape returns the function that a row names, for what rows cannot say; nil:
// there is none of this name.
func escape(name string) func(*shell.Call) {
	if f, ok := here()[name]; ok {
		return f
	}
	return elsewhere()[name]
}

// here are the functions for programs that work on this machine.
func here() map[string]func(*shell.Call) {
	return map[string]func(*shell.Call){
		"awk":            languages.Awk,
		"manual":         tasks.Manual,
		"sed":            languages.Sed,
		"windowsShell":   windows.WindowsShell,
		"agent":          agent,
		"at":             at,
		"bindMount":      bindMount,
		"convert":        convert,
		"copyFiles":      copyFiles,
		"copyLinks":      copyLinks,
		"crontab":        crontab,
		"decodeBase64":   decodeBase64,
		"decodeHex":      decodeHex,
		"destroysDisk":   destroysDisk,
		"editorCommands": editorCommands,
		"editorInput":    editorInput,
		"editorScript":   editorScript,
		"endlessOutput":  endlessOutput,
		"fd":             fd,
		"fifo":           fifo,
		"find":           find,
		"interpreter":    interpreter,
		"justRecipes":    justRecipes,
		"kill":           kill,
		"link":           link,
		"makeFolders":    makeFolders,
		"makeTargets":    makeTargets,
		"mirror":         mirror,
		"move":           move,
		"patch":          patch,
		"permit":         permit,
		"printFiles":     printFiles,
		"remoteShell":    remoteShell,
		"reverse":        reverse,
		"reviewer":       reviewer,
		"splitFilter":    splitFilter,
		"tarArchive":     tarArchive,
		"tarPrograms":    tarPrograms,
		"taskCommands":   taskCommands,
		"tee":            tee,
		"transfer":       transfer,
		"translate":      translate,
		"unbounded":      unbounded,
		"whichProgram":   whichProgram,
		"zipTest":        zipTest,
	}
}

// elsewhere are those for programs that work with other hosts.
func elsewhere() map[string]func(*shell.Call) {
	return map[string]func(*shell.Call){
		"aws":              aws,
		"brew":             brew,
		"browse":           browse,
		"bucket":           bucket,
		"cargo":            cargo,
		"carry":            carry,
		"clusters":         clusters,
		"compose":          compose,
		"curl":             curl,
		"docker":           docker,
		"dropDatabase":     dropDatabase,
		"dumps":            dumps,
		"fetchAll":         fetchAll,
		"ftp":              ftp,
		"genericCloud":     genericCloud,
		"gh":               gh,
		"git":              git,
		"goCommand":        goCommand,
		"helm":             helm,
		"httpie":           httpie,
		"javaTool":         javaTool,
		"kafka":            kafka,
		"kubectl":          kubectl,
		"languagePackages": languagePackages,
		"lookUp":           lookUp,
		"mail":             mail,
		"migrates":         migrates,
		"mongo":            mongo,
		"nameUpdates":      nameUpdates,
		"netcat":           netcat,
		"nodePackages":     nodePackages,
		"openssl":          openssl,
		"otherVCS":         otherVCS,
		"publisher":        publisher,
		"pythonPackages":   pythonPackages,
		"redis":            redis,
		"scp":              scp,
		"secrets":          secrets,
		"server":           server,
		"serviceTool":      serviceTool,
		"sqlClient":        sqlClient,
		"ssh":              ssh,
		"sshKeys":          sshKeys,
		"stacks":           stacks,
		"systemPackages":   systemPackages,
		"terraform":        terraform,
		"tunnel":           tunnel,
		"wget":             wget,
	}
}
