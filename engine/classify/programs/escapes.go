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
		"formats":        formats,
		"injectedBy":     injectedBy,
		"listens":        listens,
		"movedBy":        movedBy,
		"nodeInstall":    nodeInstall,
		"npm":            npm,
		"otherSettings":  otherSettings,
		"packageScripts": packageScripts,
		"puts":           puts,
		"replacesGuard":  replacesGuard,
		"reports":        reports,
		"runScript":      runScript,
		"runTask":        runTask,
		"takes":          takes,
		"trash":          trash,
		"accounts":       accounts,
		"allocate":       allocate,
		"archive":        archive,
		"at":             at,
		"attach":         attach,
		"build":          build,
		"compile":        compile,
		"convert":        convert,
		"copyFiles":      copyFiles,
		"cpio":           cpio,
		"create":         create,
		"crontab":        crontab,
		"destroysDisk":   destroysDisk,
		"disks":          disks,
		"edit":           edit,
		"emptyTrash":     emptyTrash,
		"encode":         encode,
		"encrypt":        encrypt,
		"endlessOutput":  endlessOutput,
		"environment":    environment,
		"fd":             fd,
		"find":           find,
		"firewall":       firewall,
		"history":        history,
		"journal":        journal,
		"kill":           kill,
		"killNamed":      killNamed,
		"link":           link,
		"listFiles":      listFiles,
		"looksUp":        looksUp,
		"move":           move,
		"moveToTrash":    moveToTrash,
		"patch":          patch,
		"permit":         permit,
		"power":          power,
		"printFiles":     printFiles,
		"query":          query,
		"readOperands":   readOperands,
		"remove":         remove,
		"removeOne":      removeOne,
		"rsync":          rsync,
		"services":       services,
		"settings":       settings,
		"shred":          shred,
		"sortFiles":      sortFiles,
		"splitFile":      splitFile,
		"sudoItself":     sudoItself,
		"tar":            tar,
		"tee":            tee,
		"transform":      transform,
		"truncate":       truncate,
		"unbounded":      unbounded,
		"uniq":           uniq,
		"watchers":       watchers,
		"whichProgram":   whichProgram,
	}
}

// elsewhere are those for programs that work with other hosts.
func elsewhere() map[string]func(*shell.Call) {
	return map[string]func(*shell.Call){
		"aws":          aws,
		"browse":       browse,
		"bucket":       bucket,
		"clusters":     clusters,
		"compose":      compose,
		"curl":         curl,
		"docker":       docker,
		"dropDatabase": dropDatabase,
		"dumps":        dumps,
		"fetchAll":     fetchAll,
		"ftp":          ftp,
		"genericCloud": genericCloud,
		"gh":           gh,
		"git":          git,
		"helm":         helm,
		"httpie":       httpie,
		"javaTool":     javaTool,
		"kafka":        kafka,
		"kubectl":      kubectl,
		"lookUp":       lookUp,
		"mail":         mail,
		"migrates":     migrates,
		"mongo":        mongo,
		"nameUpdates":  nameUpdates,
		"netcat":       netcat,
		"openssl":      openssl,
		"otherVCS":     otherVCS,
		"redis":        redis,
		"scp":          scp,
		"search":       search,
		"secrets":      secrets,
		"server":       server,
		"serviceTool":  serviceTool,
		"sqlClient":    sqlClient,
		"ssh":          ssh,
		"sshKeys":      sshKeys,
		"stacks":       stacks,
		"terraform":    terraform,
		"tunnel":       tunnel,
		"wget":         wget,
	}
}
