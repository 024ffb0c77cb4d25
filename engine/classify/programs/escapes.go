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
		"build":          build,
		"compile":        compile,
		"convert":        convert,
		"copyFiles":      copyFiles,
		"copyLinks":      copyLinks,
		"crontab":        crontab,
		"destroysDisk":   destroysDisk,
		"editorCommands": editorCommands,
		"editorInput":    editorInput,
		"editorScript":   editorScript,
		"encode":         encode,
		"endlessOutput":  endlessOutput,
		"environment":    environment,
		"fd":             fd,
		"fifo":           fifo,
		"find":           find,
		"interpreter":    interpreter,
		"kill":           kill,
		"link":           link,
		"listFiles":      listFiles,
		"looksUp":        looksUp,
		"makeFolders":    makeFolders,
		"mirror":         mirror,
		"move":           move,
		"patch":          patch,
		"permit":         permit,
		"printFiles":     printFiles,
		"query":          query,
		"readOperands":   readOperands,
		"remoteShell":    remoteShell,
		"reviewer":       reviewer,
		"sortFiles":      sortFiles,
		"splitFilter":    splitFilter,
		"tarArchive":     tarArchive,
		"tarPrograms":    tarPrograms,
		"tee":            tee,
		"transfer":       transfer,
		"transform":      transform,
		"unbounded":      unbounded,
		"uniq":           uniq,
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
		"search":           search,
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
