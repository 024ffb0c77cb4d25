package place

import "strings"

// maxMounts limits what is read of the lists of mounted disks, in bytes.
const maxMounts = 256 << 10

// mountedAt returns where a disk or a part of it is mounted, the shortest of such paths; swap: it is used as memory. Empty: nowhere,
// or nobody knows.
func mountedAt(read func(name string, limit int64) ([]byte, error), device string) string {
	if read == nil {
		return ""
	}
	found := ""
	for _, list := range []string{"/proc/swaps", "/proc/self/mounts"} {
		text, err := read(list, maxMounts)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) < 2 || !partOf(fields[0], device) {
				continue
			}
			at := fields[1]
			if list == "/proc/swaps" {
				at = "swap"
			}
			if found == "" || len(at) < len(found) {
				found = at
			}
		}
	}
	return found
}

// partOf reports whether a device is a disk, a part of it, or the disk that it is a part of.
func partOf(mounted, device string) bool {
	return trimPart(mounted) == trimPart(device) && strings.HasPrefix(device, "/dev/")
}

// trimPart returns the disk of /dev/sda1, /dev/nvme0n1p2 and /dev/mmcblk0p1.
func trimPart(device string) string {
	disk := strings.TrimRight(device, "0123456789")
	if disk == device {
		return device
	}
	if whole, ok := strings.CutSuffix(disk, "p"); ok && whole != strings.TrimRight(whole, "0123456789") {
		return whole
	}
	if strings.HasPrefix(disk, "/dev/nvme") || strings.HasPrefix(disk, "/dev/mmcblk") {
		return device
	}
	return disk
}
