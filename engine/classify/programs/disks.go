package programs

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// diskTool says what a program that works on disks and volumes does, by its
// options and subcommands.
type diskTool struct {
	reads    string // options with which it only looks
	looks    string // subcommands with which it only looks
	writes   string // options without which it only looks; empty: it always changes something
	changes  string // subcommands that change what is there, but lose nothing
	destroys string // subcommands that lose what is there; empty: all that are in no other list
}

// diskTools is the table of programs that format, partition and join disks.
func diskTools(name string) (diskTool, bool) {
	switch name {
	case "mkswap", "blkdiscard", "pvcreate", "vgremove", "lvremove", "pvremove":
		return diskTool{reads: " -n --test -t "}, true
	case "vgcreate", "vgextend", "lvcreate", "lvextend", "vgchange", "lvchange":
		return diskTool{changes: "*"}, true
	case "lvreduce", "vgreduce", "lvresize":
		return diskTool{reads: " -t --test "}, true
	case "fdisk", "sfdisk", "gdisk", "sgdisk", "cfdisk":
		return diskTool{reads: " -l --list -L -d --dump -p --print -i --info -v --verify -J --json -s -F --list-free "}, true
	case "parted":
		return diskTool{reads: " -l --list ", looks: "print unit p"}, true
	case "wipefs":
		return diskTool{writes: " -a --all -o --offset ", reads: " -n --no-act "}, true
	case "cryptsetup":
		return diskTool{looks: "status luksDump isLuks luksUUID benchmark tcryptDump", changes: "open close luksOpen luksClose plainOpen " +
			"resize luksAddKey luksHeaderBackup refresh suspend resume"}, true
	case "hdparm":
		return diskTool{writes: " --security-erase --security-erase-enhanced --trim-sector-ranges --write-sector --make-bad-sector " +
			"--repair-sector --dco-restore -N "}, true
	case "badblocks":
		return diskTool{writes: " -w -n "}, true
	case "losetup":
		return diskTool{changes: "*"}, true
	case "tune2fs", "e2fsck", "fsck", "resize2fs":
		return diskTool{reads: " -l -n -N -P -M ", changes: "*"}, true
	case "nvme":
		return diskTool{changes: "connect disconnect discover", destroys: "format sanitize write write-zeroes write-uncor dsm delete-ns"}, true
	case "mdadm":
		return diskTool{reads: " -D --detail -E --examine -Q --query -F --monitor --follow "}, true
	}
	return volumeTools(name)
}

// volumeTools is the table of programs that keep volumes and file systems.
func volumeTools(name string) (diskTool, bool) {
	switch name {
	case "zfs":
		return diskTool{changes: "create snapshot clone set inherit mount unmount share send hold release rename promote upgrade bookmark " +
			"load-key", destroys: "destroy rollback receive recv"}, true
	case "zpool":
		return diskTool{changes: "scrub trim resilver export import online offline clear set upgrade sync reguid wait checkpoint",
			destroys: "create add attach detach replace remove destroy labelclear split initialize"}, true
	case "btrfs":
		return diskTool{changes: "create snapshot set resize defragment start balance scrub",
			destroys: "delete add remove replace rescue restore"}, true
	case "diskutil":
		return diskTool{changes: "mount unmount mountDisk unmountDisk eject rename enableJournal",
			destroys: "eraseDisk eraseVolume partitionDisk reformat secureErase zeroDisk randomDisk deleteVolume deleteContainer addVolume resizeVolume mergePartitions splitPartition"}, true
	}
	return diskTool{}, false
}

// disks formats, partitions, and joins disks. Only a file that holds an image is
// not the machine's own disk.
func disks(c *shell.Call) {
	tool, _ := diskTools(c.Name)
	c.Subs = subName(tool.verb(c.Opts))
	switch tool.does(c.Opts) {
	case "look":
	case "change":
		c.System("set", lastOperand(c))
	default:
		destroysDisk(c)
	}
}

// verb is the subcommand that says what is done: btrfs has groups of them.
func (d diskTool) verb(o shell.Options) abstract.Arg {
	for _, a := range o.Operands {
		if slices.Contains(strings.Fields(d.destroys+" "+d.changes+" "+d.looks), a.Text) && a.Known() {
			return a
		}
	}
	return abstract.Arg{}
}

// does sorts a call into look, change and destroy.
func (d diskTool) does(o shell.Options) string {
	verb := d.verb(o).Text
	switch {
	case d.reads != "" && o.Has(strings.Fields(d.reads)...), d.writes != "" && !o.Has(strings.Fields(d.writes)...):
		return "look"
	case d.changes == "*", slices.Contains(strings.Fields(d.changes), verb) && !slices.Contains(strings.Fields(d.destroys), verb):
		return "change"
	case slices.Contains(strings.Fields(d.looks), verb), verb == "" && d.destroys != "", len(o.Operands) == 0:
		return "look"
	}
	return "destroy"
}

func lastOperand(c *shell.Call) abstract.Arg {
	if n := len(c.Opts.Operands); n > 0 {
		return c.Opts.Operands[n-1]
	}
	return abstract.Arg{}
}

// destroysDisk notes which disks lose what is on them.
func destroysDisk(c *shell.Call) {
	if c.Name == "btrfs" && len(c.Subs) > 0 && c.Subs[0] == "delete" && c.Opts.Operand(0).Is("subvolume", "sub", "su") {
		c.Deletes(true, false, c.Opts.Operands[2:]...) // a subvolume is a directory
		return
	}
	var devices []abstract.Arg
	images := false
	for _, a := range c.Opts.Operands {
		switch {
		case a.HasPrefix("/dev/") || !a.Known():
			devices = append(devices, a)
		case (strings.Contains(a.Text, "/") || strings.Contains(a.Text, ".")) && !ownNames(c.Name):
			images = true
			c.Writes("write", a)
		}
	}
	if len(devices) == 0 && images {
		return
	}
	if len(devices) == 0 {
		devices = []abstract.Arg{lastOperand(c)}
	}
	c.Signal(engine.SignalDiskWrite)
	c.System("format", devices...)
}

// ownNames tells whether a program's operands are no files, but for devices.
func ownNames(name string) bool {
	return slices.Contains([]string{"zfs", "zpool", "btrfs", "diskutil", "lvremove", "vgremove", "lvreduce", "vgreduce", "lvresize"}, name)
}
