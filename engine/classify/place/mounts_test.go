package place

import (
	"errors"
	"testing"
)

func TestMountedAt(t *testing.T) {
	mounts := "/dev/nvme0n1p2 / ext4 rw 0 0\n/dev/nvme0n1p1 /boot/efi vfat rw 0 0\n/dev/sdc1 /media/ana/card vfat rw 0 0\n/dev/sda3 /home ext4 rw 0 0\n"
	world := World{ReadFile: func(name string, limit int64) ([]byte, error) {
		switch name {
		case "/proc/self/mounts":
			return []byte(mounts), nil
		case "/proc/swaps":
			return []byte("Filename Type Size Used Priority\n/dev/sdd2 partition 8 0 -2\n"), nil
		}
		return nil, errors.New("no file")
	}}
	r := &Resolver{World: world}
	for device, want := range map[string]string{
		"/dev/nvme0n1": "/", "/dev/nvme0n1p1": "/", "/dev/nvme0n1p3": "/", "/dev/nvme1n1": "", "/dev/sdc": "/media/ana/card", "/dev/sda": "/home",
		"/dev/sda1": "/home", "/dev/sdaa": "", "/dev/sdd": "swap", "/dev/sdb": "", "/dev/mmcblk0": "", "/dev/null": "",
	} {
		if got := mountedAt(r.World.ReadFile, device); got != want {
			t.Errorf("%s is mounted at %q, want %q", device, got, want)
		}
	}
	if got := mountedAt(nil, "/dev/sda"); got != "" {
		t.Errorf("without a disk: %q", got)
	}
}
