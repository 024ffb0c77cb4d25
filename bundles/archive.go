package bundles

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// Archive is a bundle in one file, as OPA has them: a tar archive, compressed
// with gzip. All of it is in memory.
type Archive struct {
	Memory
	Signed bool // it contains signatures, which nobody has checked
}

// Limits of an archive. The built-in policy has 200 files and 1.3 MB.
const (
	maxInflated = 64 << 20 // bytes, all files and headers together
	maxFiles    = 10_000
	maxNameSize = 1000 // bytes of a name
)

// signaturesFile contains OPA's signatures of a bundle.
const signaturesFile = ".signatures.json"

// OpenArchive reads an archive to its end. It rejects one whose contents differ
// from its headers, and anything but plain files and folders. The input is
// untrusted: no more is read than the limits above.
func OpenArchive(r io.Reader) (*Archive, error) {
	in := bufio.NewReader(r)
	if err := compressed(in); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("read archive: %w; pack it with tar -czf", err)
	}
	end := &ending{r: z, left: maxInflated}
	u := unpacking{archive: &Archive{Memory: Memory{}}}
	if err := u.all(tar.NewReader(end)); err != nil {
		return nil, truncated(err)
	}
	if err := end.check(); err != nil {
		return nil, truncated(err)
	}
	_, u.archive.Signed = u.archive.Memory[signaturesFile]
	return u.archive, u.archive.Check()
}

// compressed returns a description of a file that is not gzip data.
func compressed(in *bufio.Reader) error {
	head, err := in.Peek(300)
	if err != nil && err != io.EOF {
		return fmt.Errorf("read archive: %w", err)
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		return nil
	}
	what := ""
	for _, kind := range []struct {
		name, magic string
		at          int
	}{
		{"zstd", "\x28\xb5\x2f\xfd", 0}, {"bzip2", "BZh", 0}, {"xz", "\xfd7zXZ", 0}, {"zip", "PK\x03\x04", 0},
		{"lz4", "\x04\x22\x4d\x18", 0}, {"a tar archive without compression", "ustar", 257},
	} {
		if len(head) > kind.at && bytes.HasPrefix(head[kind.at:], []byte(kind.magic)) {
			what = ": " + kind.name
		}
	}
	if len(head) == 0 {
		what = ": empty"
	}
	//lint:ignore ST1005 the dot at the end is the command's last word
	return fmt.Errorf("is not gzip data%s; a policy's archive is made with tar -C FOLDER -czf FILE .", what)
}

// truncated rewords the error for an archive that ends too early.
func truncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the archive is truncated; get it again")
	}
	return err
}

// unpacking is an archive that is being read.
type unpacking struct {
	archive *Archive
	entries int
}

func (u *unpacking) all(t *tar.Reader) error {
	for {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		if u.entries++; u.entries > maxFiles {
			return fmt.Errorf("the archive has more than %d entries; pack only the policy", maxFiles)
		}
		if err := u.add(h, t); err != nil {
			return err
		}
	}
}

// damaged explains an error of the readers below.
func damaged(err error) error {
	if errors.Is(err, errInflated) || errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fmt.Errorf("the archive is damaged, or contains no tar archive: %w", err)
}

// add takes one entry.
func (u *unpacking) add(h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil // git archive's header with the commit
	}
	name, err := entryName(h.Name)
	if err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return nil
	case tar.TypeReg:
	default:
		return inFile(name).wrong("is %s; a policy's archive may contain only regular files", kindOfEntry(h.Typeflag))
	}
	if _, twice := u.archive.Memory[name]; twice {
		return inFile(name).wrong("occurs twice in the archive; pack it once")
	}
	most := sizeLimit(name)
	text, err := io.ReadAll(io.LimitReader(content, most+1))
	switch {
	case err != nil:
		return damaged(err)
	case int64(len(text)) > most:
		return inFile(name).wrong("is larger than %d bytes; split it, or remove it", most)
	}
	u.archive.Memory[name] = text
	return nil
}

// entryName returns the name of an entry under the root of the bundle. OPA
// writes names that begin with a slash, and tar names that begin with a dot.
func entryName(name string) (string, error) {
	clean := strings.TrimSuffix(name, "/")
	if below, dot := strings.CutPrefix(clean, "./"); dot {
		clean = below
	} else {
		clean = strings.TrimPrefix(clean, "/")
	}
	switch {
	case len(name) > maxNameSize:
		return "", fmt.Errorf("a name in the archive has %d bytes, at most %d: %.60q…", len(name), maxNameSize, name)
	case clean == "":
		return ".", nil
	case !fs.ValidPath(clean) || strings.ContainsAny(clean, "\\\x00") || strings.ContainsFunc(clean, func(r rune) bool { return r < ' ' || r == 0x7f }):
		//lint:ignore ST1005 the dot at the end is the command's last word
		return "", fmt.Errorf("the archive has an entry %q, which points outside the archive or is not a plain relative path; "+
			"pack it with tar -C FOLDER -czf FILE .",
			name)
	}
	return clean, nil
}

func kindOfEntry(flag byte) string {
	switch flag {
	case tar.TypeSymlink, tar.TypeLink:
		return "a link"
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return "a device"
	}
	return fmt.Sprintf("an entry of type %q", flag)
}

// errInflated means that an archive is too large when it is unpacked.
var errInflated = fmt.Errorf("the archive contains more than %d MB; pack only the policy", maxInflated>>20)

// ending reads to the end of an archive: no more than left bytes, and what it
// reads last must be the zeros that a whole archive ends with.
type ending struct {
	r     io.Reader
	left  int64
	zeros int64 // how many bytes of those read last are 0
}

// Read implements io.Reader.
func (e *ending) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, errInflated
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if rest := bytes.TrimRight(p[:n], "\x00"); len(rest) == 0 {
		e.zeros += int64(n)
	} else {
		e.zeros = int64(n - len(rest))
	}
	return n, err
}

// check reads what follows the last entry: zeros, and nothing else.
func (e *ending) check() error {
	const end = 2 * 512 // bytes
	if e.zeros < end {
		return io.ErrUnexpectedEOF
	}
	for rest := make([]byte, 4096); ; {
		n, err := e.Read(rest)
		switch {
		case len(bytes.Trim(rest[:n], "\x00")) > 0:
			return errors.New("the archive has data after its end; pack it again")
		case err == io.EOF:
			return nil
		case err != nil:
			return damaged(err)
		}
	}
}
