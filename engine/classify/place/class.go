package place

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// Class says what kind of file a path is, by its names alone. Names are
// compared without case: many disks do not tell Case from case.
func (r *Resolver) Class(p string) engine.Class {
	if p == "" {
		return ""
	}
	known, ok := r.classes[p] // long scripts name the same few paths
	if !ok {
		known = r.classOf(p)
		r.classes[p] = known
	}
	return known
}

func (r *Resolver) classOf(p string) engine.Class {
	for _, g := range r.guard {
		if Within(g, p) {
			return engine.ClassGuard
		}
	}
	n := r.Names(p)
	if r.guardName(n) {
		return engine.ClassGuard
	}
	for _, c := range []struct {
		class engine.Class
		is    func(names) bool
	}{
		{engine.ClassAgent, agentConfig},
		{engine.ClassCredential, credential},
		{engine.ClassEnvFile, envFile},
		{engine.ClassStartup, startup},
		{engine.ClassGitHook, gitHook},
		{engine.ClassGitData, gitData},
		{engine.ClassCI, ciConfig},
		{engine.ClassBackup, backup},
		{engine.ClassDatabase, database},
		{engine.ClassMount, systemConfig},
	} {
		if c.is(n) {
			return c.class
		}
	}
	return ""
}

// names are the parts of a path as the tables need them.
type names struct {
	full  string   // lower case, absolute or as far as known
	parts []string // of full
	base  string   // last part
	ext   string   // of base, with the dot
	home  string   // full below a home directory, without a slash; empty: not in a home
	Third bool     // inside of a folder of other people's packages
}

// Names returns the names in a path, in lower case.
func (r *Resolver) Names(p string) names {
	low := strings.ToLower(p)
	n := names{full: low, parts: strings.Split(strings.Trim(low, "/"), "/"), base: path.Base(low), ext: path.Ext(low)}
	for i, part := range n.parts {
		if i < len(n.parts)-1 && (part == "node_modules" || part == "site-packages" || part == "dist-packages" || part == "vendor") {
			n.Third = true
		}
	}
	for dir := path.Dir(p); dir != "/" && dir != "."; dir = path.Dir(dir) {
		if r.homeRoot(dir) || Drive(dir) && r.windowsLocation(dir) == engine.LocationHomeRoot {
			n.home = low[len(dir)+1:]
			break
		}
	}
	return n
}

// has says that one of the parts is name.
func (n names) has(name string) bool { return slices.Contains(n.parts, name) }

// below returns what follows the last part called name.
func (n names) below(name string) (string, bool) {
	for i := len(n.parts) - 1; i >= 0; i-- {
		if n.parts[i] == name {
			return strings.Join(n.parts[i+1:], "/"), true
		}
	}
	return "", false
}

// credentialFiles are names that hold secrets wherever they lie.
var credentialFiles = []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", ".netrc",
	"_netrc", ".pgpass", ".git-credentials", ".pypirc", ".vault-token", ".s3cfg", ".boto", ".htpasswd", ".dockercfg", ".my.cnf",
	".mylogin.cnf", "credentials.json", "application_default_credentials.json", "client_secret.json", "service-account.json",
	"serviceaccountkey.json", ".credentials.json", "key4.db", "logins.json", "cookies.sqlite", "wallet.dat", "master.key",
	".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".sqlite_history",
	".node_repl_history", ".rediscli_history", "fish_history", "secring.gpg", "kubeconfig", "consolehost_history.txt",
	"secrets.yml", "secrets.yaml", "secrets.json", ".secrets", "shadow-", "gshadow-", "ntds.dit", "login.keychain-db", ".rhosts"}

// credentialExts are forms in which private keys are kept.
var credentialExts = []string{".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".p8", ".gpg-key",
	".keychain", ".keychain-db", ".tfvars"}

// publicPEM are usual names of certificates without a key.
var publicPEM = []string{"ca.pem", "cacert.pem", "cert.pem", "chain.pem", "fullchain.pem", "ca-bundle.pem", "ca-cert.pem",
	"ca-certificates.pem", "public.pem", "pubkey.pem", "public.key", "pub.key"}

// credentialHome are files and folders below a home directory.
var credentialHome = []string{
	".aws", ".gnupg", ".kube", ".azure", ".oci", ".docker/config.json", ".config/gcloud", ".config/gh", ".config/glab-cli", ".config/hub", ".config/op",
	".config/rclone", ".config/doctl", ".config/hcloud", ".config/heroku", ".config/solana", ".config/git/credentials", ".config/containers/auth.json", ".npmrc", ".yarnrc.yml",
	".terraform.d/credentials.tfrc.json", ".terraformrc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
	".m2/settings-security.xml", ".gradle/gradle.properties", ".password-store", ".local/share/keyrings", ".local/share/kwalletd", "library/keychains", ".pki",
	".ethereum/keystore", ".bitcoin", ".electrum", ".codex/auth.json", ".gemini/oauth_creds.json", ".claude/.credentials.json", ".config/configstore",
	".mozilla/firefox", ".config/google-chrome", ".config/chromium", ".config/bravesoftware", "library/application support/google/chrome", "library/cookies",
	"appdata/roaming/microsoft/credentials", "appdata/local/microsoft/credentials", "appdata/local/google/chrome/user data", "appdata/roaming/microsoft/protect",
	".fly/config.yml", ".wrangler", ".netlify", ".vercel/auth.json", ".databrickscfg", ".snowflake", ".pulumi/credentials.json", ".cfconfig",
}

// credentialSystem are places outside of homes.
var credentialSystem = []string{
	"/etc/shadow", "/etc/gshadow", "/etc/ssl/private", "/etc/ssh/ssh_host_", "/etc/krb5.keytab", "/run/secrets", "/var/run/secrets", "/etc/kubernetes/admin.conf",
	"/etc/kubernetes/pki", "/etc/rancher/k3s/k3s.yaml", "/etc/security/opasswd", "/library/keychains", "/var/lib/sss/secrets", "c:/windows/system32/config/sam", "c:/windows/system32/config/system", "c:/windows/repair/sam",
}

func credential(n names) bool {
	if rest, ok := n.below(".ssh"); ok {
		return !strings.HasSuffix(rest, ".pub") && !strings.HasPrefix(rest, "known_hosts")
	}
	if len(n.parts) == 3 && n.parts[0] == "proc" && n.base == "environ" {
		return true
	}
	for _, p := range credentialSystem {
		if Within(p, n.full) || strings.HasSuffix(p, "_") && strings.HasPrefix(n.full, p) {
			return !strings.HasSuffix(n.base, ".pub")
		}
	}
	for _, p := range credentialHome {
		if Within(p, n.home) {
			return true
		}
	}
	return slices.Contains(credentialFiles, n.base) || credentialName(n)
}

// credentialName goes by the form of the name, which says less: not for
// packages of other people, which are full of keys for tests.
func credentialName(n names) bool {
	if n.Third || Within("/etc/ssl/certs", n.full) || Within("/usr/share", n.full) || Within("/usr/lib", n.full) {
		return false
	}
	if aws, ok := n.below(".aws"); ok && aws != "" {
		return true
	}
	account := strings.HasPrefix(n.base, "service-account") || strings.HasPrefix(n.base, "service_account") ||
		strings.HasPrefix(n.base, "client_secret")
	return account && n.ext == ".json" || slices.Contains(credentialExts, n.ext) && !slices.Contains(publicPEM, n.base) && n.base != n.ext
}

// envFile knows .env, .env.local, prod.env; not .env.example and its like.
func envFile(n names) bool {
	if n.base == ".envrc" || n.base == ".flaskenv" || n.base == ".dev.vars" {
		return true
	}
	if n.ext == ".env" && n.base != ".env" {
		return !slices.ContainsFunc(strings.Split(n.base, "."), sample)
	}
	if n.base != ".env" && !strings.HasPrefix(n.base, ".env.") {
		return false
	}
	return !slices.ContainsFunc(strings.Split(n.base, ".")[1:], sample)
}

// sampleParts are parts of the names of samples.
var sampleParts = []string{"example", "examples", "sample", "template", "tmpl", "tpl", "dist", "default", "defaults", "schema",
	"ts", "md"}

// sample says that a part of a name means: not the real one.
func sample(part string) bool { return slices.Contains(sampleParts, part) }

// startupHome run when a person logs in, opens a shell or a desktop.
var startupHome = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".cshrc",
	".tcshrc", ".login", ".config/fish", ".config/nushell", ".config/autostart", ".config/systemd", ".config/environment.d", ".config/plasma-workspace/env",
	".local/share/systemd", "library/launchagents", ".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment", ".inputrc", ".config/powershell",
	"documents/windowspowershell", "documents/powershell", "appdata/roaming/microsoft/windows/start menu/programs/startup",
}

// startupSystem run for the whole machine.
var startupSystem = []string{
	"/etc/systemd", "/usr/lib/systemd", "/lib/systemd", "/run/systemd/system", "/etc/init.d", "/etc/init", "/etc/rc.local", "/etc/rc.d", "/etc/profile", "/etc/profile.d", "/etc/bash.bashrc",
	"/etc/bashrc", "/etc/zsh", "/etc/zshrc", "/etc/zprofile", "/etc/cron.d", "/etc/crontab", "/etc/cron.daily", "/etc/cron.hourly", "/etc/cron.weekly", "/etc/cron.monthly", "/etc/anacrontab",
	"/var/spool/cron", "/var/spool/at", "/etc/ld.so.preload", "/etc/environment", "/etc/xdg/autostart", "/etc/udev/rules.d", "/etc/update-motd.d", "/library/launchdaemons", "/library/launchagents",
	"/system/library/launchdaemons", "/etc/pam.d", "/etc/modules-load.d", "/etc/apt/apt.conf.d", "c:/programdata/microsoft/windows/start menu/programs/startup", "c:/windows/system32/tasks",
}

func startup(n names) bool {
	for _, p := range startupHome {
		if Within(p, n.home) {
			return true
		}
	}
	for _, p := range startupSystem {
		if Within(p, n.full) {
			return true
		}
	}
	return n.base == "sitecustomize.py" || n.base == "usercustomize.py" || n.ext == ".pth" && n.Third
}

// gitHook are hooks, and configuration that names commands to run.
func gitHook(n names) bool {
	if rest, ok := n.below(".git"); ok {
		for _, part := range strings.Split(rest, "/") {
			if part == "hooks" || part == "config" || part == "config.worktree" {
				return true
			}
		}
		return false
	}
	if Within(".gitconfig", n.home) || n.home == ".config/git/config" || n.full == "/etc/gitconfig" {
		return true
	}
	return n.has(".husky") || n.has(".githooks") || slices.Contains(gitHookFiles, n.base)
}

// gitHookFiles are those of programs that run git hooks.
var gitHookFiles = []string{"lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".pre-commit-config.yaml",
	".pre-commit-config.yml", ".lintstagedrc", ".overcommit.yml"}

func gitData(n names) bool { return n.has(".git") }

// agentNames are files that steer agents, by name; agentDirs by folder.
var (
	agentNames = []string{".mcp.json", "mcp.json", ".claude.json", "claude.md", "claude.local.md", "agents.md",
		"agents.override.md", "gemini.md", ".cursorrules", ".windsurfrules", ".clinerules", ".goosehints", ".aider.conf.yml",
		"opencode.json", "opencode.jsonc", "copilot-instructions.md", "managed-settings.json", "claude_desktop_config.json",
		"mcp_config.json", "cline_mcp_settings.json", "mcp_settings.json", "crush.json", ".crush.json"}
	agentDirs = []string{".claude", ".codex", ".gemini", ".cursor", ".windsurf", ".continue", ".opencode", ".cline", ".roo",
		".kiro", ".goose", ".amazonq", ".qwen", ".factory", ".copilot", ".kilocode", "claude-code"}
)

func agentConfig(n names) bool {
	if n.base == ".credentials.json" || n.base == "auth.json" || n.base == "oauth_creds.json" {
		return false // a credential
	}
	if slices.Contains(agentNames, n.base) || editorSettings(n) || n.has(".clinerules") || strings.Contains(n.full, ".github/hooks/") {
		return true
	}
	for _, dir := range []string{".config/goose", ".config/opencode", ".config/amp", ".config/crush"} {
		if Within(dir, n.home) {
			return true
		}
	}
	for i := len(n.parts) - 1; i >= 0; i-- { // the innermost: a working tree below an agent's own folder has settings of its own
		if slices.Contains(agentDirs, n.parts[i]) {
			return !agentBooks(n.parts[i+1:])
		}
	}
	return false
}

// editorSettings are those of editors in which agents live: of a project, or of
// a person (…/Code/User/settings.json).
func editorSettings(n names) bool {
	at := len(n.parts) - 2
	if n.base != "settings.json" || at < 0 {
		return false
	}
	owner := n.parts[max(at-1, 0)]
	return n.parts[at] == ".vscode" || n.home == ".config/zed/settings.json" ||
		n.parts[at] == "user" && slices.Contains([]string{"code", "code - insiders", "vscodium", "cursor", "windsurf", "code-server"}, owner)
}

// agentBooks are an agent's own notes and logs, which it writes all the time:
// the folders below the agent's own that hold nothing else.
func agentBooks(below []string) bool {
	for _, p := range below {
		switch p {
		case "projects", "todos", "plans", "worktrees", "shell-snapshots", "tool-results", "sessions", "tmp", "cache", "file-history", "debug", "paste-cache", "tasks", "history.jsonl", "session-env":
			return true
		}
	}
	return false
}

// guards says that a file of the agent's configuration decides what the agent
// may do, unlike instructions and notes.
func guards(p string) bool {
	base, dir := strings.ToLower(path.Base(p)), strings.ToLower(path.Dir(p))
	switch {
	case slices.Contains(agentDirs, base): // the folder as a whole
		return true
	case strings.HasPrefix(base, "settings") && strings.Contains(base, ".json"), strings.HasPrefix(base, "managed-settings"):
		return true
	case strings.Contains(base, "mcp") && strings.HasSuffix(base, ".json"), base == ".claude.json", base == "claude_desktop_config.json", base == "opencode.json", base == "opencode.jsonc", base == "crush.json", base == ".crush.json":
		return true
	case base == "config.toml", base == "config.json", base == "config.yaml", base == "cli-config.json", base == "permissions.json", base == "permissions.yaml", base == "trustedfolders.json", base == ".aider.conf.yml", base == "hooks.json", base == "hooks", strings.Contains(dir, "/hooks"), strings.Contains(dir, "/plugin"), strings.HasSuffix(dir, "/cli-agents"), strings.HasSuffix(dir, "/managed-settings.d"), strings.Contains(dir, "/rules") && strings.Contains(dir, ".codex"):
		return true
	}
	return false
}

// ciFiles are configuration files of continuous integration.
var ciFiles = []string{".gitlab-ci.yml", ".gitlab-ci.yaml", "jenkinsfile", "azure-pipelines.yml", "azure-pipelines.yaml",
	".travis.yml", "bitbucket-pipelines.yml", ".drone.yml", "appveyor.yml", ".appveyor.yml", ".cirrus.yml", "cloudbuild.yaml",
	"buildspec.yml"}

func ciConfig(n names) bool {
	if rest, ok := n.below(".github"); ok && (Within("workflows", rest) || Within("actions", rest)) {
		return true
	}
	return n.has(".circleci") || n.has(".buildkite") || n.has(".woodpecker") || n.has(".tekton") || slices.Contains(ciFiles, n.base)
}

func backup(n names) bool {
	for _, p := range n.parts {
		if p == "backup" || p == "backups" || p == ".backups" || p == "snapshots" || p == ".snapshots" || strings.HasSuffix(p, ".bak") ||
			strings.HasSuffix(p, ".backup") {
			return !n.Third
		}
	}
	return strings.HasSuffix(n.base, "~") || slices.Contains([]string{".old", ".dump", ".sqlc"}, n.ext) || strings.HasSuffix(n.base, ".sql.gz")
}

// databaseExts are extensions of database files.
var databaseExts = []string{".sqlite", ".sqlite3", ".sqlite-wal", ".sqlite-shm", ".db", ".db3", ".db-wal", ".mdb", ".accdb",
	".rdb", ".aof", ".ibd", ".myd", ".duckdb", ".realm", ".tfstate"}

func database(n names) bool {
	for _, d := range []string{"/var/lib/mysql", "/var/lib/postgresql", "/var/lib/pgsql", "/var/lib/mongodb", "/var/lib/mongo",
		"/var/lib/redis", "/var/lib/cassandra", "/var/lib/elasticsearch", "/var/lib/influxdb", "/var/lib/clickhouse"} {
		if Within(d, n.full) {
			return true
		}
	}
	return slices.Contains(databaseExts, n.ext) && n.base != "thumbs.db" && !n.Third
}

func systemConfig(n names) bool {
	return Within("/etc", n.full) || Within("/private/etc", n.full) || Within("/boot", n.full) || Within("/usr/local/etc", n.full) ||
		Within("c:/windows/system32/drivers/etc", n.full)
}

// generatedNames are folders that a tool makes again, by the tools' own names.
var generatedNames = []string{"node_modules", "bower_components", "dist", "build", "target", "out", "obj", ".next", ".nuxt",
	".output", ".svelte-kit", ".astro", ".angular", ".vite", ".turbo", ".parcel-cache", ".cache", "__pycache__", ".pytest_cache",
	".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".venv", "venv", ".eggs", "htmlcov", "coverage", ".nyc_output",
	".gradle", ".dart_tool", "deriveddata", "pods", ".terraform", ".serverless", "_build", ".stack-work", "dist-newstyle",
	".zig-cache", "zig-out", "zig-cache", ".bundle", ".sass-cache", "storybook-static", "playwright-report", "test-results",
	".docusaurus", ".expo", ".webpack", "bazel-bin", "bazel-out", ".coverage", ".ds_store", ".eslintcache", ".tsbuildinfo",
	"vendor", "cmake-build-debug", "cmake-build-release", ".ipynb_checkpoints", ".pnpm-store", ".yarn"}

// Generated says that a path is made by a tool, by name. Whether it is ignored
// by version control is asked elsewhere.
func Generated(p string) bool {
	for _, part := range strings.Split(strings.ToLower(p), "/") {
		if slices.Contains(generatedNames, part) || strings.HasSuffix(part, ".egg-info") || strings.HasSuffix(part, ".pyc") ||
			strings.HasSuffix(part, ".tsbuildinfo") {
			return true
		}
	}
	return false
}

// Space reports whether a byte is a space, a tab or the end of a line.
func Space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
