package sources

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"

	"github.com/klauspost/compress/zstd"
)

// Compressed compresses contents if the name they get ends with .zst or .gz, and reports
// whether it does. The same contents give the same bytes.
func Compressed(name string, content []byte) (packed []byte, changed bool, err error) {
	var b bytes.Buffer
	var w io.WriteCloser
	switch path.Ext(name) {
	case ".zst":
		w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	case ".gz":
		w = gzip.NewWriter(&b)
	default:
		return content, false, nil
	}
	if err != nil {
		return nil, true, err
	}
	_, err = w.Write(content)
	err = errors.Join(err, w.Close())
	return b.Bytes(), true, err
}
