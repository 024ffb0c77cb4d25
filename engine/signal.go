package engine

// Signal is the id of a fact that the classifier recognises: a named
// combination of effects. The list is closed; ids that an organisation adds are
// findings (CEL), never signals.
type Signal string

// The signals. The first five are SafeClaw's, the others follow the families
// of dangerous operations.
const (
	SignalObfuscated     Signal = "obfuscated_execution"  // code that runs was encoded, or is built while it runs
	SignalCredential     Signal = "credential_adjacent"   // touches a credential file or store
	SignalBroadDelete    Signal = "broad_destructive"     // deletes a root, a home, a system directory or a folder above the workspace
	SignalPipeExternal   Signal = "pipe_to_external"      // data piped or uploaded to another host
	SignalOwnForge       Signal = "own_forge"             // that data goes to the workspace's own repository at a code host
	SignalPersistence    Signal = "persistence_mechanism" // installs something that runs later on its own
	SignalRemoteCode     Signal = "remote_code"           // fetched code is run
	SignalCheckedCode    Signal = "checked_code"          // fetched code is run if its checksum or signature is right
	SignalUnknownCommand Signal = "unknown_command"       // the program to run is not known beforehand
	SignalDeferred       Signal = "deferred_execution"    // runs later: at, cron, trap, nohup …
	SignalEnvInjected    Signal = "env_injected_code"     // LD_PRELOAD, BASH_ENV, GIT_SSH_COMMAND … carry code
	SignalGitForcePush   Signal = "git_force_push"        // overwrites a remote branch without a lease
	SignalGitDiscard     Signal = "git_discard"           // discards uncommitted work
	SignalGitHistory     Signal = "git_history_rewrite"   // expires reflogs, filters branches, deletes refs
	SignalGitNoVerify    Signal = "git_no_verify"         // a flag, a variable or a setting keeps git from running hooks
	SignalDiskWrite      Signal = "disk_write"            // formats or writes a disk device
	SignalPower          Signal = "power_state"           // shuts down or restarts the machine
	SignalForkBomb       Signal = "fork_bomb"
	SignalUnbounded      Signal = "unbounded_resource"  // writes or loops without end
	SignalPrivilege      Signal = "privilege_elevation" // runs with elevated privileges
	SignalEnvDump        Signal = "environment_dump"    // prints all environment variables
	SignalReverseShell   Signal = "reverse_shell"
	SignalTunnel         Signal = "tunnel"                // opens a tunnel
	SignalListen         Signal = "inbound_listener"      // listens for connections from other machines
	SignalPackageInstall Signal = "package_install"       // installs a package
	SignalPackageURL     Signal = "package_install_url"   // installs a package from a URL, a git repository or another index
	SignalPublish        Signal = "publish"               // publishes packages, images, releases or gists
	SignalPackageSource  Signal = "package_source_change" // changes where packages come from
	SignalUnchecked      Signal = "verification_off"      // certificates or signatures are not checked
	SignalInfraDelete    Signal = "infrastructure_delete" // destroys infrastructure
	SignalContainerWipe  Signal = "container_wipe"        // prunes volumes, removes named volumes or namespaces
	SignalContainerHost  Signal = "container_host"        // gives a container the host's files, container socket or privileges
	SignalDatabaseDrop   Signal = "database_destructive"  // drops, empties or overwrites tables
	SignalGuardTamper    Signal = "guard_tampering"       // touches the safeguards of reviewer or of the agent
	SignalAgentUnguarded Signal = "agent_unguarded"       // starts an agent with its safeguards off
	SignalMuted          Signal = "errors_muted"          // hides the errors of a change: 2>/dev/null, || true
	SignalUnconfirmed    Signal = "confirmation_skipped"  // a flag answers confirmations in advance
	SignalInteractive    Signal = "interactive_program"   // starts a program that reads its commands from the terminal
	SignalDryRun         Signal = "dry_run"               // only shows what would be done
	SignalDisguised      Signal = "disguised_program"     // a program whose effects are unknown starts under another name, or without the variables of the agent
	SignalMarked         Signal = "marked_dangerous"      // the program's authors mark an option or subcommand as dangerous; no more is known
)

// LegacySignals lists signals that are no longer produced because facts of
// effects express the same. Older records contain them, and policies of that
// time name them.
func LegacySignals() []string {
	return []string{"git_data_delete", "kill_all", "permission_broad", "secret_egress"}
}

// Signals lists every Signal.
func Signals() []string {
	return []string{
		string(SignalObfuscated), string(SignalCredential), string(SignalBroadDelete), string(SignalPipeExternal),
		string(SignalOwnForge),
		string(SignalPersistence), string(SignalRemoteCode), string(SignalCheckedCode), string(SignalUnknownCommand), string(SignalDeferred),
		string(SignalEnvInjected), string(SignalGitForcePush), string(SignalGitDiscard), string(SignalGitHistory),
		string(SignalGitNoVerify), string(SignalDiskWrite), string(SignalPower),
		string(SignalForkBomb), string(SignalUnbounded), string(SignalPrivilege),
		string(SignalEnvDump), string(SignalReverseShell),
		string(SignalTunnel), string(SignalListen), string(SignalPackageInstall), string(SignalPackageURL),
		string(SignalPublish), string(SignalInfraDelete), string(SignalContainerWipe), string(SignalContainerHost),
		string(SignalDatabaseDrop), string(SignalGuardTamper), string(SignalAgentUnguarded), string(SignalMuted),
		string(SignalUnconfirmed), string(SignalInteractive), string(SignalDryRun),
		string(SignalPackageSource), string(SignalUnchecked), string(SignalMarked), string(SignalDisguised),
	}
}
