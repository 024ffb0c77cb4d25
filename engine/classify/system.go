package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
)

// systemPrograms are the programs that change the machine.
func systemPrograms(name string) program {
	if strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "newfs") {
		return program{values: " -t -L -b -n -F32 ", run: (*call).destroysDisk}
	}
	if _, ok := diskTools(name); ok {
		return program{run: disks}
	}
	switch name {
	case "kill", "skill":
		return program{first: true, values: " -s -n --signal ", run: kill}
	case "pkill", "killall", "killall5":
		return program{values: " -s -u -U -g -G -P -t --signal --user ", run: killNamed}
	case "shutdown", "reboot", "halt", "poweroff", "init", "telinit":
		return program{run: power}
	case "mount", "umount", "swapoff", "swapon", "modprobe", "rmmod", "insmod", "sysctl", "kexec", "hwclock", "timedatectl", "hostnamectl", "localectl", "date", "hostname", "ulimit", "setenforce", "update-grub", "grub-install", "efibootmgr", "nvram", "csrutil", "spctl", "defaults", "pmset", "scutil", "networksetup":
		return program{values: " -t -o -d -p -f -u -r -I -L --date --file --reference --iso-8601 ", run: settings}
	case "systemctl", "service", "launchctl", "rc-service", "rc-update", "update-rc.d", "chkconfig", "initctl", "loginctl", "sv":
		return program{values: " -t -p -n -o -H -M --type --property --lines --output --host --machine ", run: services}
	case "crontab":
		return program{values: " -u ", run: crontab}
	case "at", "batch", "atrm":
		return program{values: " -f -q -t ", run: at}
	case "iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "pfctl", "ipset", "tc", "ip", "ifup", "ifdown", "route", "nmcli", "resolvectl":
		return program{run: firewall}
	case "useradd", "userdel", "usermod", "adduser", "deluser", "groupadd", "groupdel", "gpasswd", "groupmod", "passwd", "chpasswd", "chsh", "chfn", "visudo", "vipw", "dscl", "sysadminctl", "newusers", "update-alternatives":
		return program{values: " -G -g -s -d -c -u -e -f -p -k --shell --groups --home ", run: accounts}
	case "sudo", "doas", "su", "runuser", "sudoedit", "pkexec":
		return program{values: " -u -g ", run: sudoItself}
	case "history", "fc":
		return program{run: history}
	case "security", "pass", "vault", "secret-tool", "keyring", "bw", "gopass", "op", "chamber":
		return program{values: " -s -a -w -field --field -format --vault ", run: secrets}
	case "disown", "nohup":
		return program{run: func(c *call) { c.signal(engine.SignalDeferred) }}
	case "gpg", "age", "gpg2":
		return program{values: " -o -r -u -i --output --recipient --passphrase --identity --homedir ", run: encrypt}
	case "auditctl", "aa-teardown", "aa-disable", "aa-complain":
		return program{values: " -e -b -f -r -a -d -w -p -k ", run: watchers}
	case "journalctl":
		return program{values: " -u -n -p -t -o -S -U -g -b --unit --lines --priority --identifier --output --since --until --grep --boot ", run: journal}
	case "dmesg":
		return program{run: journal}
	case "fuser":
		return program{values: " -n --namespace ", run: fuser}
	case "strace", "ltrace":
		return program{values: " -e -o -p -s -u -a -E -I -O -S -P -X -b ", run: tracer}
	case "prlimit":
		return program{values: " -p --pid ", first: true, run: processLimits}
	case "debugfs":
		return program{values: " -f -R -d -b -s ", run: debugFS}
	case "gcore", "lldb", "gdb", "reptyr", "injectso":
		return program{values: " -p --pid -ex -iex -eval-command --eval-command -x -o -n ", long: true, run: attach}
	}
	return program{}
}

// attach takes hold of a process that runs already: its memory can be read and
// changed. Programs that are started under a debugger are nobody else's.
func attach(c *call) {
	for _, line := range c.opts.all("-ex", "-iex", "-eval-command", "--eval-command", "-o") {
		c.debuggerCode(line)
	}
	targets := c.opts.all("-p", "--pid")
	for i, a := range c.opts.operands {
		if (i > 0 || c.name == "gcore" || c.name == "reptyr") && strings.Trim(a.text, "0123456789"+holes) == "" {
			targets = append(targets, a)
		}
	}
	if len(targets) == 0 {
		c.process()
		return
	}
	c.takes(targets)
	c.emit(rawEffect{kind: engine.EffectProcess, verb: "attach"}, targets...)
}

// journal shows what the machine has noted, unless it is told to forget it.
func journal(c *call) {
	c.out = unknownArg()
	if c.opts.has("--vacuum-time", "--vacuum-size", "--vacuum-files") || c.name == "dmesg" && c.opts.has("-C", "--clear", "-c", "--read-clear") {
		c.system("delete", word("event log "+c.name))
	}
}

// debuggerCode is a command of gdb or lldb that runs something of its own.
func (c *call) debuggerCode(line arg) {
	for _, prefix := range []string{"shell ", "!", "platform shell "} {
		if code, ok := strings.CutPrefix(line.text, prefix); ok {
			c.child(func() outcome { return c.s.embed(line.with(code), c.name, false) })
		}
	}
	for _, prefix := range []string{"python ", "py ", "script "} {
		if code, ok := strings.CutPrefix(line.text, prefix); ok {
			c.extract("python", line.with(code), c.name)
		}
	}
}

// watchers switches off what watches the machine.
func watchers(c *call) {
	switch {
	case c.name != "auditctl":
		c.system("disable", word("apparmor"))
	case c.opts.has("-D"), c.opts.has("-e") && c.lastValue("-e").is("0"):
		c.system("disable", word("audit"))
	case c.opts.has("-a", "-d", "-w", "-W", "-b"):
		c.system("set", word("audit"))
	}
}

func (c *call) lastValue(option string) arg {
	v, _ := c.opts.get(option)
	return v
}

func kill(c *call) {
	targets := c.args
	first := arg{}
	if len(targets) > 0 && targets[0].hasPrefix("-") {
		first, targets = targets[0], targets[1:]
		if (first.is("-s", "-n", "--signal")) && len(targets) > 0 {
			targets = targets[1:]
		}
	}
	if first.is("-l", "-L", "-0") {
		return
	}
	if len(targets) > 0 && targets[0].is("--") {
		targets = targets[1:]
	}
	if first.is("-1") && len(targets) == 0 {
		targets = []arg{first}
	}
	for _, t := range targets {
		if t.is("-1") || t.is("1") {
			c.signal(engine.SignalKillAll)
		}
	}
	c.aims(targets)
	c.opts = options{parsed: true, operands: targets, flags: flagsOf(first)}
	c.emit(rawEffect{kind: engine.EffectProcess, verb: "kill", forced: first.is("-9", "-KILL", "-SIGKILL")}, targets...)
}

// flagsOf is the option that the first argument is; none where it is empty.
func flagsOf(first arg) []given {
	if first.text == "" {
		return nil
	}
	return []given{{text: first.show(), word: first}}
}

func killNamed(c *call) {
	o := c.opts
	broad := c.name == "killall5" || o.has("-u", "-U", "--user") && len(o.operands) == 0
	for _, t := range o.operands {
		broad = broad || t.is(".", ".*", "", "*", "-1")
		if namesGuard(t) {
			c.signal(engine.SignalGuardTamper)
		}
	}
	if broad {
		c.signal(engine.SignalKillAll)
	}
	targets := o.operands
	if len(targets) == 0 {
		targets = []arg{unknownArg()}
	}
	c.emit(rawEffect{kind: engine.EffectProcess, verb: "kill", forced: o.has("-9")}, targets...)
}

func power(c *call) {
	if c.opts.has("-c", "--help") || c.name == "init" && !c.opts.operand(0).is("0", "6", "1") {
		return
	}
	c.signal(engine.SignalPower)
	c.system("power")
}

// settings are programs that show something without arguments and change it
// with them.
func settings(c *call) {
	o := c.opts
	switch c.name {
	case "date":
		if !o.has("-s", "--set") {
			return
		}
		c.system("set", word("clock"))
		return
	case "hwclock":
		if o.has("-w", "--systohc", "-s", "--hctosys", "--set") {
			c.system("set", word("clock"))
		}
		return
	case "hostname", "swapon":
		if len(o.operands) == 0 {
			return
		}
	case "mount":
		c.mounts()
		return
	case "umount":
		c.system("unmount", o.operand(0))
		return
	case "sysctl":
		assigns := o.has("-w", "-p", "--write", "--load", "--system")
		for _, a := range o.operands {
			assigns = assigns || strings.Contains(a.text, "=")
		}
		if !assigns {
			return
		}
		c.system("kernel", c.lastOperand())
		return
	case "insmod", "rmmod", "kexec":
		c.system("kernel", c.lastOperand())
		return
	case "swapoff":
		c.system("kernel", word("swap"))
		return
	case "setenforce":
		if c.opts.operand(0).is("0", "Permissive", "permissive") {
			c.system("disable", word("selinux"))
			return
		}
	case "timedatectl", "hostnamectl", "localectl", "pmset", "scutil", "networksetup", "csrutil", "spctl", "efibootmgr":
		first := o.operand(0)
		switch {
		case c.name == "pmset" && first.is("sleepnow", "displaysleepnow"):
			c.system("suspend", arg{})
			return
		case c.name == "csrutil" && first.is("disable"), c.name == "spctl" && o.has("--master-disable", "--global-disable"):
			c.system("disable", word("gatekeeper"))
			return
		}
		if c.name == "timedatectl" && first.is("set-time", "set-ntp", "set-local-rtc") {
			c.system("set", word("clock"))
			return
		}
		if !strings.HasPrefix(first.text, "set") && !first.is("disable", "enable", "clear", "hibernatemode") && !o.has("-B", "--set", "-a") {
			return
		}
	case "defaults":
		c.subs = subName(o.operand(0))
		if !o.operand(0).is("write", "delete", "import") {
			return
		}
	case "modprobe":
		if o.has("-n", "--dry-run", "-D", "-c", "--showconfig", "--show-depends") {
			return
		}
		c.system("kernel", c.lastOperand())
		return
	}
	c.system("set", o.operand(max(len(o.operands)-1, 0)))
}

func services(c *call) {
	o := c.opts
	verb := o.operand(0)
	units := o.operands
	switch {
	case c.name == "service" && len(units) > 1:
		verb, units = units[1], units[:1]
	case len(units) > 0:
		units = units[1:]
	}
	c.subs = subName(o.operand(0))
	switch {
	case verb.text == "" || strings.HasPrefix(verb.text, "list") || strings.HasPrefix(verb.text, "is-") || strings.HasPrefix(verb.text, "show") ||
		verb.is("status", "cat", "help", "get-default", "print", "blame", "dump", "version", "--status-all"):
		return
	case verb.is("suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate", "sleep"):
		c.system("suspend", arg{})
		return
	case verb.is("poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency", "rescue", "isolate", "terminate-user"):
		c.signal(engine.SignalPower)
	case verb.is("enable", "load", "bootstrap", "submit", "reenable", "link", "add", "defaults"):
		c.signal(engine.SignalPersistence)
		c.emit(rawEffect{kind: engine.EffectSystemCall, verb: verb.text, persistence: true}, firstOr(units))
		return
	}
	for _, u := range units {
		if namesGuard(u) {
			c.signal(engine.SignalGuardTamper)
		}
	}
	if len(units) == 0 {
		units = []arg{{}}
	}
	for _, u := range units {
		c.system(serviceVerb(verb), u.with(strings.TrimSuffix(u.text, ".service")))
	}
}

// serviceVerb is what a word of a manager of services does, in one spelling:
// what is unloaded or masked does not run any more either.
func serviceVerb(verb arg) string {
	switch {
	case verb.is("mask", "unload", "bootout", "remove", "disable-now", "del"):
		return "disable"
	case verb.is("kill", "off", "down", "exit", "force-stop"):
		return "stop"
	}
	return verb.show()
}

func firstOr(list []arg) arg {
	if len(list) > 0 {
		return list[0]
	}
	return arg{}
}

func crontab(c *call) {
	if c.opts.has("-l") {
		return
	}
	if c.opts.has("-r") {
		c.system("delete", word("crontab"))
		return
	}
	c.signal(engine.SignalPersistence, engine.SignalDeferred)
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "enable", persistence: true}, word("crontab"))
	if in := c.s.frame.stdin; in != nil && (len(c.opts.operands) == 0 || c.opts.operand(0).is("-")) {
		for _, line := range strings.Split(in.text, "\n") {
			if code, ok := cronCode(line); ok {
				c.child(func() outcome { return c.s.embed(in.with(code), "cron", false) })
			}
		}
		return
	}
	c.reads(c.opts.operands...)
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

func at(c *call) {
	if c.opts.has("-l", "-V", "-c") || c.name == "atrm" {
		return
	}
	c.signal(engine.SignalDeferred)
	c.reads(c.opts.all("-f")...)
	if in := c.s.frame.stdin; in != nil && in.known() {
		c.process() // a job that is known runs once: it is judged by what it does
		c.child(func() outcome { return c.s.embed(*in, "at", false) })
		return
	}
	c.signal(engine.SignalPersistence)
	c.emit(rawEffect{kind: engine.EffectSystemCall, verb: "enable", persistence: true}, word("at"))
}

func firewall(c *call) {
	o := c.opts
	first := o.operand(0)
	for _, a := range o.operands {
		if a.is("show", "list", "status", "ls", "get", "version", "query") || strings.HasPrefix(a.text, "list-") {
			return
		}
	}
	shows := o.has("-L", "--list", "-S", "--list-rules", "-s", "--list-all", "--state", "-n") && !o.has("-F", "-X", "-A", "-D", "-P", "-I")
	if shows || len(c.args) == 0 {
		return
	}
	switch c.name {
	case "ip", "tc", "nmcli", "route", "resolvectl":
		changes := false
		for _, a := range o.operands {
			changes = changes || a.is("add", "del", "delete", "set", "flush", "change", "replace", "up", "down", "modify", "disconnect")
		}
		if !changes {
			return
		}
	}
	if c.disarms() {
		c.system("disable", word("firewall"))
		return
	}
	c.system("set", first)
}

// disarms tells whether a firewall lets all through afterwards.
func (c *call) disarms() bool {
	o := c.opts
	first, second := o.operand(0), o.operand(1)
	switch c.name {
	case "iptables", "ip6tables":
		return o.has("-F", "--flush", "-X", "--delete-chain") || o.has("-P", "--policy") && slices.ContainsFunc(o.operands, func(a arg) bool { return a.is("ACCEPT") })
	case "nft":
		return first.is("flush", "delete") && second.is("ruleset", "table", "tables")
	case "ufw":
		return first.is("disable", "reset")
	case "pfctl":
		return o.has("-d", "-F")
	case "firewall-cmd":
		return o.has("--panic-off", "--complete-reload") || o.has("--set-default-zone") && strings.Contains(textOf(c.args), "trusted")
	}
	return false
}

func textOf(args []arg) string { return joinWords(args).text }

func accounts(c *call) {
	if c.opts.has("-S", "--status", "--list", "--display", "--query") || c.opts.operand(0).is("-list", "-read") {
		return
	}
	switch c.name {
	case "visudo", "usermod", "gpasswd", "sysadminctl", "vipw":
		c.signal(engine.SignalPrivilege)
	}
	verb := "account"
	if c.name == "userdel" || c.name == "deluser" || c.name == "groupdel" || c.opts.operand(0).is("-delete", "-deleteUser") {
		verb = "delete"
	}
	if c.name == "update-alternatives" {
		verb = "set"
	}
	c.system(verb, c.lastOperand())
}

// sudoItself is sudo without a command.
func sudoItself(c *call) {
	if c.name == "sudoedit" || c.opts.has("-e", "--edit") {
		c.signal(engine.SignalPrivilege)
		c.s.frame.privileged = true
		c.writes("write", c.opts.operands...)
		c.s.frame.privileged = false
		return
	}
	if c.opts.has("-l", "-v", "-k", "-K", "-V", "--list", "--validate") {
		return
	}
	c.signal(engine.SignalPrivilege)
	if in := c.s.frame.stdin; in != nil && (c.name == "su" || c.opts.has("-s", "-i")) {
		c.s.frame.privileged = true
		c.child(func() outcome { return c.s.embed(*in, c.inputVia(), false) })
		c.s.frame.privileged = false
	}
	c.process()
}

func history(c *call) {
	if c.opts.has("-c", "-d", "-p") && c.name == "history" {
		c.signal(engine.SignalGuardTamper)
		c.emit(rawEffect{kind: engine.EffectProcess, verb: "exec"}, word("history"))
	}
}

// secrets are programs that hand out what is kept in a store.
func secrets(c *call) {
	c.subs = subName(c.opts.operand(0))
	if verb, object, _ := operation(c.opts.operands); verb != "" {
		c.ends(verb, object, false, c.opts.unasked(), word(c.name))
		return
	}
	for _, a := range c.opts.operands {
		if a.is("find-generic-password", "find-internet-password", "dump-keychain", "export", "show", "read", "get", "document") || a.is("lookup") && c.name == "secret-tool" {
			c.signal(engine.SignalCredential)
			return
		}
	}
	if c.name == "pass" && len(c.opts.operands) == 1 && !c.opts.operand(0).is("ls", "list", "git", "version", "help") {
		c.signal(engine.SignalCredential)
	}
	c.process()
}

func encrypt(c *call) {
	c.reads(c.opts.operands...)
	c.writes("write", c.opts.all("-o", "--output")...)
	if c.opts.has("-d", "--decrypt") {
		c.out.taint |= decoded
	}
	if c.opts.has("--delete-secret-keys", "--delete-keys", "--delete-secret-and-public-key") {
		c.deletes(false, true, word("~/.gnupg"))
	}
	if c.opts.has("--export-secret-keys", "--export-secret-subkeys") {
		c.signal(engine.SignalCredential)
	}
}

// mounts is mount: what lies at a place is hidden by something else. That can
// be read only changes nothing else.
func (c *call) mounts() {
	o := c.opts
	if len(o.operands) == 0 && !o.has("-a", "--all") {
		return
	}
	c.bindMount()
	kinds, _ := o.get("-o", "--options")
	if o.has("-r", "--read-only") || slices.Contains(strings.Split(kinds.text, ","), "ro") {
		c.process()
		return
	}
	c.system("mount", c.lastOperand())
}

// bindMount is mount --bind: what is done below the second directory happens
// to the first.
func (c *call) bindMount() {
	kind, _ := c.opts.get("-o", "--options")
	if len(c.opts.operands) != 2 || !c.opts.has("--bind", "--rbind", "-B", "-R", "-M", "--move") && !strings.Contains(kind.text, "bind") {
		return
	}
	for _, dir := range c.s.scope.dirs {
		if at := joinDir(dir, c.opts.operands[1]); at.sure == literal && len(c.s.links) < 256 {
			c.s.links[at.text] = joinDir(dir, c.opts.operands[0])
		}
	}
}
