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
		"formats":          formats,
		"gitAliases":       gitAliases,
		"gitApply":         gitApply,
		"gitCheckout":      gitCheckout,
		"gitClean":         gitClean,
		"gitClone":         gitClone,
		"gitConfig":        gitConfig,
		"gitPushes":        gitPushes,
		"gitRemote":        gitRemote,
		"gitDeinit":        gitDeinit,
		"gitDiff":          gitDiff,
		"gitDiscard":       gitDiscard,
		"gitElsewhere":     gitElsewhere,
		"gitFetchesModule": gitFetchesModule,
		"gitForeach":       gitForeach,
		"gitHooks":         gitHooks,
		"gitLists":         gitLists,
		"gitMakesTree":     gitMakesTree,
		"gitMove":          gitMove,
		"gitPager":         gitPager,
		"gitRemovesTree":   gitRemovesTree,
		"gitRestore":       gitRestore,
		"gitSides":         gitSides,
		"gitSaves":         gitSaves,
		"gitSettings":      gitSettings,
		"gitShows":         gitShows,
		"gitTransports":    gitTransports,
		"gitUnseen":        gitUnseen,
		"handsShell":       handsShell,
		"injectedBy":       injectedBy,
		"listens":          listens,
		"movedBy":          movedBy,
		"nodeInstall":      nodeInstall,
		"npm":              npm,
		"otherSettings":    otherSettings,
		"packageScripts":   packageScripts,
		"pours":            pours,
		"puts":             puts,
		"replacesGuard":    replacesGuard,
		"reports":          reports,
		"runScript":        runScript,
		"runTask":          runTask,
		"sendsKey":         sendsKey,
		"socat":            socat,
		"talks":            talks,
		"tlsConnects":      tlsConnects,
		"trash":            trash,
		"ansible":          ansible,
		"awsCopy":          awsCopy,
		"ghAPI":            ghAPI,
		"browse":           browse,
		"bucket":           bucket,
		"composed":         composed,
		"container":        container,
		"grantsRole":       grantsRole,
		"kubeDelete":       kubeDelete,
		"kubeExec":         kubeExec,
		"dropsDatabase":    dropsDatabase,
		"dropsRole":        dropsRole,
		"resetsDatabase":   resetsDatabase,
		"restoresDatabase": restoresDatabase,
		"stopsServer":      stopsServer,
		"curl":             curl,
		"ftp":              ftp,
		"httpie":           httpie,
		"javaTool":         javaTool,
		"lookUp":           lookUp,
		"mongo":            mongo,
		"nameUpdates":      nameUpdates,
		"redis":            redis,
		"scp":              scp,
		"sqlClient":        sqlClient,
		"ssh":              ssh,
		"wget":             wget,
	}
}
