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
		"awk":           languages.Awk,
		"manual":        tasks.Manual,
		"sed":           languages.Sed,
		"windowsShell":  windows.WindowsShell,
		"accounts":      accounts,
		"agent":         agent,
		"allocate":      allocate,
		"archive":       archive,
		"at":            at,
		"attach":        attach,
		"build":         build,
		"compile":       compile,
		"convert":       convert,
		"copyFiles":     copyFiles,
		"cpio":          cpio,
		"create":        create,
		"crontab":       crontab,
		"debugFS":       debugFS,
		"destroysDisk":  destroysDisk,
		"disks":         disks,
		"edit":          edit,
		"emptyTrash":    emptyTrash,
		"encode":        encode,
		"encrypt":       encrypt,
		"endlessOutput": endlessOutput,
		"environment":   environment,
		"fd":            fd,
		"find":          find,
		"firewall":      firewall,
		"fuser":         fuser,
		"history":       history,
		"interpreter":   interpreter,
		"journal":       journal,
		"kill":          kill,
		"killNamed":     killNamed,
		"link":          link,
		"listFiles":     listFiles,
		"looksUp":       looksUp,
		"move":          move,
		"moveToTrash":   moveToTrash,
		"patch":         patch,
		"permit":        permit,
		"power":         power,
		"printFiles":    printFiles,
		"processLimits": processLimits,
		"query":         query,
		"readOperands":  readOperands,
		"remove":        remove,
		"removeOne":     removeOne,
		"reviewer":      reviewer,
		"rsync":         rsync,
		"services":      services,
		"settings":      settings,
		"shred":         shred,
		"sortFiles":     sortFiles,
		"splitFile":     splitFile,
		"sudoItself":    sudoItself,
		"tar":           tar,
		"tee":           tee,
		"tracer":        tracer,
		"transform":     transform,
		"truncate":      truncate,
		"unbounded":     unbounded,
		"uniq":          uniq,
		"watchers":      watchers,
		"whichProgram":  whichProgram,
	}
}

// elsewhere are those for programs that work with other hosts.
func elsewhere() map[string]func(*shell.Call) {
	return map[string]func(*shell.Call){
		"ansible":          ansible,
		"awsCopy":          awsCopy,
		"ghAPI":            ghAPI,
		"brew":             brew,
		"browse":           browse,
		"bucket":           bucket,
		"cargo":            cargo,
		"carry":            carry,
		"composed":         composed,
		"container":        container,
		"copyHere":         copyHere,
		"grantsRole":       grantsRole,
		"kubeDelete":       kubeDelete,
		"kubeExec":         kubeExec,
		"manifests":        manifests,
		"curl":             curl,
		"dropDatabase":     dropDatabase,
		"dumps":            dumps,
		"fetchAll":         fetchAll,
		"ftp":              ftp,
		"git":              git,
		"goCommand":        goCommand,
		"httpie":           httpie,
		"javaTool":         javaTool,
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
		"sqlClient":        sqlClient,
		"ssh":              ssh,
		"sshKeys":          sshKeys,
		"systemPackages":   systemPackages,
		"tunnel":           tunnel,
		"wget":             wget,
	}
}
