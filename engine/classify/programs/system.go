package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// systemPrograms are the programs that change the machine.
func systemPrograms(name string) shell.Program {
	if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		return shell.Program{Values: " -t -L -b -n -F32 ", Run: destroysDisk}
	}
	if _, ok := diskTools(name); ok {
		return shell.Program{Run: disks}
	}
	is, _ := rowOf(systemTable, name)
	return is
}

var systemTable = []row[shell.Program]{
	{[]string{"kill", "skill"}, shell.Program{First: true, Values: " -s -n --signal ", Run: kill}},
	{[]string{"pkill", "killall", "killall5"}, shell.Program{Values: " -s -u -U -g -G -P -t --signal --user ", Run: killNamed}},
	{[]string{"shutdown", "reboot", "halt", "poweroff", "init", "telinit"}, shell.Program{Run: power}},
	{[]string{"mount", "umount", "swapoff", "swapon", "modprobe", "rmmod", "insmod", "sysctl", "kexec", "hwclock", "timedatectl",
		"hostnamectl", "localectl", "date", "hostname", "ulimit", "setenforce", "update-grub", "grub-install", "efibootmgr", "nvram",
		"csrutil", "spctl", "defaults", "pmset", "scutil", "networksetup"}, shell.Program{Values: " -t -o -d -p -f -u -r -I -L --date --file --reference --iso-8601 ", Run: settings}},
	{[]string{"systemctl", "service", "launchctl", "rc-service", "rc-update", "update-rc.d", "chkconfig", "initctl", "loginctl",
		"sv"}, shell.Program{Values: " -t -p -n -o -H -M --type --property --lines --output --host --machine ", Run: services}},
	{[]string{"crontab"}, shell.Program{Values: " -u ", Run: crontab}},
	{[]string{"at", "batch", "atrm"}, shell.Program{Values: " -f -q -t ", Run: at}},
	{[]string{"iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "pfctl", "ipset", "tc", "ip", "ifup", "ifdown", "route",
		"nmcli", "resolvectl"}, shell.Program{Run: firewall}},
	{[]string{"useradd", "userdel", "usermod", "adduser", "deluser", "groupadd", "groupdel", "gpasswd", "groupmod", "passwd",
		"chpasswd", "chsh", "chfn", "visudo", "vipw", "dscl", "sysadminctl", "newusers", "update-alternatives"}, shell.Program{Values: " -G -g -s -d -c -u -e -f -p -k --shell --groups --home ", Run: accounts}},
	{[]string{"sudo", "doas", "su", "runuser", "sudoedit", "pkexec"}, shell.Program{Values: " -u -g ", Run: sudoItself}},
	{[]string{"history", "fc"}, shell.Program{Run: history}},
	{[]string{"security", "pass", "vault", "secret-tool", "keyring", "bw", "gopass", "op", "chamber"}, shell.Program{Values: " -s -a -w -field --field -format --vault ", Run: secrets}},
	{[]string{"disown", "nohup"}, shell.Program{Run: func(c *shell.Call) { c.Signal(engine.SignalDeferred) }}},
	{[]string{"gpg", "age", "gpg2"}, shell.Program{Values: " -o -r -u -i --output --recipient --passphrase --identity --homedir ", Run: encrypt}},
	{[]string{"auditctl", "aa-teardown", "aa-disable", "aa-complain"}, shell.Program{Values: " -e -b -f -r -a -d -w -p -k ", Run: watchers}},
	{[]string{"journalctl"}, shell.Program{Values: " -u -n -p -t -o -S -U -g -b --unit --lines --priority --identifier --output --since --until --grep --boot ", Run: journal}},
	{[]string{"dmesg"}, shell.Program{Run: journal}},
	{[]string{"fuser"}, shell.Program{Values: " -n --namespace ", Run: fuser}},
	{[]string{"strace", "ltrace"}, shell.Program{Values: " -e -o -p -s -u -a -E -I -O -S -P -X -b ", Run: tracer}},
	{[]string{"prlimit"}, shell.Program{Values: " -p --pid ", First: true, Run: processLimits}},
	{[]string{"debugfs"}, shell.Program{Values: " -f -R -d -b -s ", Run: debugFS}},
	{[]string{"gcore", "lldb", "gdb", "reptyr", "injectso"}, shell.Program{Values: " -p --pid -ex -iex -eval-command --eval-command -x -o -n ", Long: true, Run: attach}},
}

// attach takes hold of a process that runs already: its memory can be read and
// changed. Programs that are started under a debugger are nobody else's.
func attach(c *shell.Call) {
	for _, line := range c.Opts.All("-ex", "-iex", "-eval-command", "--eval-command", "-o") {
		debuggerCode(c, line)
	}
	targets := c.Opts.All("-p", "--pid")
	for i, a := range c.Opts.Operands {
		if (i > 0 || c.Name == "gcore" || c.Name == "reptyr") && strings.Trim(a.Text, "0123456789"+abstract.Holes) == "" {
			targets = append(targets, a)
		}
	}
	if len(targets) == 0 {
		c.Process()
		return
	}
	c.Takes(targets)
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "attach"}, targets...)
}

// journal shows what the machine has noted, unless it is told to forget it.
func journal(c *shell.Call) {
	c.Out = abstract.UnknownArg()
	if c.Opts.Has("--vacuum-time", "--vacuum-size", "--vacuum-files") ||
		c.Name == "dmesg" && c.Opts.Has("-C", "--clear", "-c", "--read-clear") {
		c.System("delete", abstract.Word("event log "+c.Name))
	}
}

// debuggerCode is a command of gdb or lldb that runs something of its own.
func debuggerCode(c *shell.Call, line abstract.Arg) {
	for _, prefix := range []string{"shell ", "!", "platform shell "} {
		if code, ok := strings.CutPrefix(line.Text, prefix); ok {
			c.Child(func() shell.Outcome { return c.Shell.Embed(line.With(code), c.Name, false) })
		}
	}
	for _, prefix := range []string{"python ", "py ", "script "} {
		if code, ok := strings.CutPrefix(line.Text, prefix); ok {
			c.Extract("python", line.With(code), c.Name)
		}
	}
}

// watchers switches off what watches the machine.
func watchers(c *shell.Call) {
	switch {
	case c.Name != "auditctl":
		c.System("disable", abstract.Word("apparmor"))
	case c.Opts.Has("-D"), c.Opts.Has("-e") && lastValue(c, "-e").Is("0"):
		c.System("disable", abstract.Word("audit"))
	case c.Opts.Has("-a", "-d", "-w", "-W", "-b"):
		c.System("set", abstract.Word("audit"))
	}
}

func lastValue(c *shell.Call, option string) abstract.Arg {
	v, _ := c.Opts.Get(option)
	return v
}

func kill(c *shell.Call) {
	targets := c.Args
	first := abstract.Arg{}
	if len(targets) > 0 && targets[0].HasPrefix("-") {
		first, targets = targets[0], targets[1:]
		if (first.Is("-s", "-n", "--signal")) && len(targets) > 0 {
			targets = targets[1:]
		}
	}
	if first.Is("-l", "-L", "-0") {
		return
	}
	if len(targets) > 0 && targets[0].Is("--") {
		targets = targets[1:]
	}
	if first.Is("-1") && len(targets) == 0 {
		targets = []abstract.Arg{first}
	}
	c.Aims(targets)
	c.Opts = shell.Options{Parsed: true, Operands: targets, Flags: flagsOf(first)}
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill", Forced: first.Is("-9", "-KILL", "-SIGKILL")}, targets...)
}

// flagsOf is the option that the first argument is; none where it is empty.
func flagsOf(first abstract.Arg) []abstract.Given {
	if first.Text == "" {
		return nil
	}
	return []abstract.Given{{Text: first.Show(), Word: first}}
}

func killNamed(c *shell.Call) {
	o := c.Opts
	for _, t := range o.Operands {
		if place.NamesGuard(t) {
			c.Signal(engine.SignalGuardTamper)
		}
	}
	targets := o.Operands
	switch {
	case slices.ContainsFunc(targets, func(t abstract.Arg) bool { return t.Is("") }), len(targets) == 0 && (c.Name == "killall5" || o.Has("-u", "-U", "--user")):
		targets = []abstract.Arg{abstract.Word("*")}
	case len(targets) == 0:
		targets = []abstract.Arg{abstract.UnknownArg()}
	}
	c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "kill", Forced: o.Has("-9")}, targets...)
}

func power(c *shell.Call) {
	if c.Opts.Has("-c", "--help") || c.Name == "init" && !c.Opts.Operand(0).Is("0", "6", "1") {
		return
	}
	c.Signal(engine.SignalPower)
	c.System("power")
}

// settings are programs that show something without arguments and change it
// with them.
func settings(c *shell.Call) {
	o := c.Opts
	switch c.Name {
	case "date":
		if !o.Has("-s", "--set") {
			return
		}
		c.System("set", abstract.Word("clock"))
		return
	case "hwclock":
		if o.Has("-w", "--systohc", "-s", "--hctosys", "--set") {
			c.System("set", abstract.Word("clock"))
		}
		return
	case "hostname", "swapon":
		if len(o.Operands) == 0 {
			return
		}
	case "mount":
		mounts(c)
		return
	case "umount":
		c.System("unmount", o.Operand(0))
		return
	case "sysctl":
		assigns := o.Has("-w", "-p", "--write", "--load", "--system")
		for _, a := range o.Operands {
			assigns = assigns || strings.Contains(a.Text, "=")
		}
		if !assigns {
			return
		}
		c.System("kernel", lastOperand(c))
		return
	case "insmod", "rmmod", "kexec":
		c.System("kernel", lastOperand(c))
		return
	case "swapoff":
		c.System("kernel", abstract.Word("swap"))
		return
	case "setenforce":
		if c.Opts.Operand(0).Is("0", "Permissive", "permissive") {
			c.System("disable", abstract.Word("selinux"))
			return
		}
	case "timedatectl", "hostnamectl", "localectl", "pmset", "scutil", "networksetup", "csrutil", "spctl", "efibootmgr":
		first := o.Operand(0)
		switch {
		case c.Name == "pmset" && first.Is("sleepnow", "displaysleepnow"):
			c.System("suspend", abstract.Arg{})
			return
		case c.Name == "csrutil" && first.Is("disable"), c.Name == "spctl" && o.Has("--master-disable", "--global-disable"):
			c.System("disable", abstract.Word("gatekeeper"))
			return
		}
		if c.Name == "timedatectl" && first.Is("set-time", "set-ntp", "set-local-rtc") {
			c.System("set", abstract.Word("clock"))
			return
		}
		if !strings.HasPrefix(first.Text, "set") && !first.Is("disable", "enable", "clear", "hibernatemode") && !o.Has("-B", "--set", "-a") {
			return
		}
	case "defaults":
		c.Subs = subName(o.Operand(0))
		if !o.Operand(0).Is("write", "delete", "import") {
			return
		}
	case "modprobe":
		if o.Has("-n", "--dry-run", "-D", "-c", "--showconfig", "--show-depends") {
			return
		}
		c.System("kernel", lastOperand(c))
		return
	}
	c.System("set", o.Operand(max(len(o.Operands)-1, 0)))
}

func services(c *shell.Call) {
	o := c.Opts
	verb := o.Operand(0)
	units := o.Operands
	switch {
	case c.Name == "service" && len(units) > 1:
		verb, units = units[1], units[:1]
	case len(units) > 0:
		units = units[1:]
	}
	c.Subs = subName(o.Operand(0))
	switch {
	case verb.Text == "" || strings.HasPrefix(verb.Text, "list") || strings.HasPrefix(verb.Text, "is-") || strings.HasPrefix(verb.Text, "show") ||
		verb.Is("status", "cat", "help", "get-default", "print", "blame", "dump", "version", "--status-all"):
		return
	case verb.Is("suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate", "sleep"):
		c.System("suspend", abstract.Arg{})
		return
	case verb.Is("poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency", "rescue", "isolate", "terminate-user"):
		c.Signal(engine.SignalPower)
	case verb.Is("enable", "load", "bootstrap", "submit", "reenable", "link", "add", "defaults"):
		c.Signal(engine.SignalPersistence)
		c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: verb.Text, Persistence: true}, abstract.FirstOr(units))
		return
	}
	for _, u := range units {
		if place.NamesGuard(u) {
			c.Signal(engine.SignalGuardTamper)
		}
	}
	if len(units) == 0 {
		units = []abstract.Arg{{}}
	}
	for _, u := range units {
		c.System(serviceVerb(verb), u.With(strings.TrimSuffix(u.Text, ".service")))
	}
}

// serviceVerb is what a word of a manager of services does, in one spelling:
// what is unloaded or masked does not run any more either.
func serviceVerb(verb abstract.Arg) string {
	switch {
	case verb.Is("mask", "unload", "bootout", "remove", "disable-now", "del"):
		return "disable"
	case verb.Is("kill", "off", "down", "exit", "force-stop"):
		return "stop"
	}
	return verb.Show()
}

func crontab(c *shell.Call) {
	if c.Opts.Has("-l") {
		return
	}
	if c.Opts.Has("-r") {
		c.System("delete", abstract.Word("crontab"))
		return
	}
	c.Signal(engine.SignalPersistence, engine.SignalDeferred)
	c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "enable", Persistence: true}, abstract.Word("crontab"))
	if in := c.Shell.Frame.Stdin; in != nil && (len(c.Opts.Operands) == 0 || c.Opts.Operand(0).Is("-")) {
		for _, line := range strings.Split(in.Text, "\n") {
			if code, ok := cronCode(line); ok {
				c.Child(func() shell.Outcome { return c.Shell.Embed(in.With(code), "cron", false) })
			}
		}
		return
	}
	c.Reads(c.Opts.Operands...)
}

// cronCode is the command of a line of a crontab.
func cronCode(line string) (string, bool) {
	fields := strings.Fields(line)
	n := 5
	if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
		n = 1
	}
	if len(fields) <= n || strings.HasPrefix(fields[0], "#") || strings.Trim(fields[0], "0123456789*/,-@abcdefghijklmnopqrstuvwxyz") != "" {
		return "", false
	}
	return strings.Join(fields[n:], " "), true
}

func at(c *shell.Call) {
	if c.Opts.Has("-l", "-V", "-c") || c.Name == "atrm" {
		return
	}
	c.Signal(engine.SignalDeferred)
	c.Reads(c.Opts.All("-f")...)
	if in := c.Shell.Frame.Stdin; in != nil && in.Known() {
		c.Process() // a job that is known runs once: it is judged by what it does
		c.Child(func() shell.Outcome { return c.Shell.Embed(*in, "at", false) })
		return
	}
	c.Signal(engine.SignalPersistence)
	c.Emit(abstract.RawEffect{Kind: engine.EffectSystemCall, Verb: "enable", Persistence: true}, abstract.Word("at"))
}

func firewall(c *shell.Call) {
	o := c.Opts
	first := o.Operand(0)
	for _, a := range o.Operands {
		if a.Is("show", "list", "status", "ls", "get", "version", "query") || strings.HasPrefix(a.Text, "list-") {
			return
		}
	}
	shows := o.Has("-L", "--list", "-S", "--list-rules", "-s", "--list-all", "--state", "-n") && !o.Has("-F", "-X", "-A", "-D", "-P", "-I")
	if shows || len(c.Args) == 0 {
		return
	}
	switch c.Name {
	case "ip", "tc", "nmcli", "route", "resolvectl":
		changes := false
		for _, a := range o.Operands {
			changes = changes || a.Is("add", "del", "delete", "set", "flush", "change", "replace", "up", "down", "modify", "disconnect")
		}
		if !changes {
			return
		}
	}
	if disarms(c) {
		c.System("disable", abstract.Word("firewall"))
		return
	}
	c.System("set", first)
}

// disarms tells whether a firewall lets all through afterwards.
func disarms(c *shell.Call) bool {
	o := c.Opts
	first, second := o.Operand(0), o.Operand(1)
	switch c.Name {
	case "iptables", "ip6tables":
		return o.Has("-F", "--flush", "-X", "--delete-chain") || o.Has("-P", "--policy") &&
			slices.ContainsFunc(o.Operands, func(a abstract.Arg) bool { return a.Is("ACCEPT") })
	case "nft":
		return first.Is("flush", "delete") && second.Is("ruleset", "table", "tables")
	case "ufw":
		return first.Is("disable", "reset")
	case "pfctl":
		return o.Has("-d", "-F")
	case "firewall-cmd":
		return o.Has("--panic-off", "--complete-reload") || o.Has("--set-default-zone") && strings.Contains(textOf(c.Args), "trusted")
	}
	return false
}

func textOf(args []abstract.Arg) string { return shell.JoinWords(args).Text }

func accounts(c *shell.Call) {
	if c.Opts.Has("-S", "--status", "--list", "--display", "--query") || c.Opts.Operand(0).Is("-list", "-read") {
		return
	}
	switch c.Name {
	case "visudo", "usermod", "gpasswd", "sysadminctl", "vipw":
		c.Signal(engine.SignalPrivilege)
	}
	verb := "account"
	if c.Name == "userdel" || c.Name == "deluser" || c.Name == "groupdel" || c.Opts.Operand(0).Is("-delete", "-deleteUser") {
		verb = "delete"
	}
	if c.Name == "update-alternatives" {
		verb = "set"
	}
	c.System(verb, lastOperand(c))
}

// sudoItself is sudo without a command.
func sudoItself(c *shell.Call) {
	if c.Name == "sudoedit" || c.Opts.Has("-e", "--edit") {
		c.Signal(engine.SignalPrivilege)
		c.Shell.Frame.Privileged = true
		c.Writes("write", c.Opts.Operands...)
		c.Shell.Frame.Privileged = false
		return
	}
	if c.Opts.Has("-l", "-v", "-k", "-K", "-V", "--list", "--validate") {
		return
	}
	c.Signal(engine.SignalPrivilege)
	if in := c.Shell.Frame.Stdin; in != nil && (c.Name == "su" || c.Opts.Has("-s", "-i")) {
		c.Shell.Frame.Privileged = true
		c.Child(func() shell.Outcome { return c.Shell.Embed(*in, inputVia(c), false) })
		c.Shell.Frame.Privileged = false
	}
	c.Process()
}

func history(c *shell.Call) {
	if c.Opts.Has("-c", "-d", "-p") && c.Name == "history" {
		c.Signal(engine.SignalGuardTamper)
		c.Emit(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "exec"}, abstract.Word("history"))
	}
}

// secrets are programs that hand out what is kept in a store.
func secrets(c *shell.Call) {
	c.Subs = subName(c.Opts.Operand(0))
	if verb, object, _ := operationOf(c.Opts.Operands); verb != "" {
		ends(c, verb, object, false, unasked(c.Opts), abstract.Word(c.Name))
		return
	}
	for _, a := range c.Opts.Operands {
		if a.Is("find-generic-password", "find-internet-password", "dump-keychain", "export", "show", "read", "get", "document") ||
			a.Is("lookup") && c.Name == "secret-tool" {
			c.Signal(engine.SignalCredential)
			return
		}
	}
	if c.Name == "pass" && len(c.Opts.Operands) == 1 && !c.Opts.Operand(0).Is("ls", "list", "git", "version", "help") {
		c.Signal(engine.SignalCredential)
	}
	c.Process()
}

func encrypt(c *shell.Call) {
	c.Reads(c.Opts.Operands...)
	c.Writes("write", c.Opts.All("-o", "--output")...)
	if c.Opts.Has("-d", "--decrypt") {
		c.Out.Taint |= abstract.Decoded
	}
	if c.Opts.Has("--delete-secret-keys", "--delete-keys", "--delete-secret-and-public-key") {
		c.Deletes(false, true, abstract.Word("~/.gnupg"))
	}
	if c.Opts.Has("--export-secret-keys", "--export-secret-subkeys") {
		c.Signal(engine.SignalCredential)
	}
}

// mounts is mount: what lies at a place is hidden by something else. That can
// be read only changes nothing else.
func mounts(c *shell.Call) {
	o := c.Opts
	if len(o.Operands) == 0 && !o.Has("-a", "--all") {
		return
	}
	bindMount(c)
	kinds, _ := o.Get("-o", "--options")
	if o.Has("-r", "--read-only") || slices.Contains(strings.Split(kinds.Text, ","), "ro") {
		c.Process()
		return
	}
	c.System("mount", lastOperand(c))
}

// bindMount is mount --bind: what is done below the second directory happens
// to the first.
func bindMount(c *shell.Call) {
	kind, _ := c.Opts.Get("-o", "--options")
	if len(c.Opts.Operands) != 2 || !c.Opts.Has("--bind", "--rbind", "-B", "-R", "-M", "--move") && !strings.Contains(kind.Text, "bind") {
		return
	}
	for _, dir := range c.Shell.Scope.Dirs {
		if at := abstract.JoinDir(dir, c.Opts.Operands[1]); at.Sure == abstract.Literal && len(c.Shell.Links) < 256 {
			c.Shell.Links[at.Text] = abstract.JoinDir(dir, c.Opts.Operands[0])
		}
	}
}
