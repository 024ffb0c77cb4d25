package place

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
)

// Limits of what is read of an archive. The rest is unknown.
const (
	maxArchive  = 16 << 20 // bytes of the file
	maxUnpacked = 64 << 20 // bytes of the contents of a compressed one
	maxSlow     = 2 << 20  // bytes of a file compressed by bzip2, which takes about 0.15 s for each MiB
	maxSlowOpen = 16 << 20 // bytes of the contents of such a file
	maxMembers  = 20000
)

// Archive returns the names of the members of an archive on the disk: a tar (also
// compressed with gzip or bzip2) or a zip. ok is false if they cannot be read, or not all
// of them.
func (r *Resolver) Archive(real string) ([]string, bool) {
	if r.World.ReadFile == nil || !r.Here(real) {
		return nil, false
	}
	b, err := r.World.ReadFile(real, maxArchive)
	if err != nil {
		return nil, false
	}
	if bytes.HasPrefix(b, []byte("PK")) {
		return zipNames(b)
	}
	return tarNames(b)
}

func zipNames(b []byte) ([]string, bool) {
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(z.File) > maxMembers {
		return nil, false
	}
	var names []string
	for _, f := range z.File {
		names = append(names, Slashes(f.Name))
	}
	return names, true
}

func tarNames(b []byte) ([]string, bool) {
	var in io.Reader = bytes.NewReader(b)
	most := int64(maxUnpacked)
	switch {
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, false
		}
		in = z
	case bytes.HasPrefix(b, []byte("BZh")):
		in, most = bzip2.NewReader(bytes.NewReader(b[:min(len(b), maxSlow)])), maxSlowOpen
	}
	var names []string
	t := tar.NewReader(io.LimitReader(in, most))
	for len(names) < maxMembers {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return names, len(names) > 0
		}
		if err != nil {
			return nil, false
		}
		names = append(names, Slashes(h.Name))
	}
	return nil, false
}
