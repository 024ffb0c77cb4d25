package serve

import (
	"fmt"
	"os"
	"syscall"
)

// private reports problems with the folder of the socket: another user who owns it, or
// may write there, could put a socket of their own in it.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case int(owner) != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d, not to you", dir, owner)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("other users can write to %s: run `chmod 700` on it", dir)
	}
	return nil
}

// The numbers by which the kernel names the file systems that other machines share.
const (
	nfs  = 0x6969
	smb  = 0x517b
	cifs = 0xff534d42
	smb2 = 0xfe534d42
	afs  = 0x5346414f
	ceph = 0x00c36400
	v9fs = 0x01021997
	coda = 0x73757245
	fuse = 0x65735546
)

// shared returns the kind of network file system that a folder is on; empty if it is a
// local one. For FUSE this is unknown.
func shared(dir string) string {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil {
		return ""
	}
	return map[uint32]string{nfs: "NFS", smb: "SMB", cifs: "CIFS", smb2: "SMB2", afs: "AFS", ceph: "Ceph", v9fs: "9P", coda: "Coda",
		fuse: "FUSE"}[uint32(fs.Type)]
}
