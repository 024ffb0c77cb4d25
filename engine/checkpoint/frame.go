package checkpoint

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A frame is the stored form of contents:
//
//	magic 4 | flags 1 | digest 32 | size of the contents 8 | size of the body 8 | body | SHA-256 of all that 32
//
// The digest is that of the contents; the sum at the end covers every byte that
// is stored, so that no flipped bit passes, even one that does not matter to
// the decompressor.
const (
	frameMagic  = "rvf1"
	frameHeader = 4 + 1 + 32 + 8 + 8
	frameSum    = sha256.Size

	flagCompressed = 1
	flagSealed     = 2
)

// ErrDamaged means that the contents of the store differ from what was written.
var ErrDamaged = errors.New("the store is damaged")

// keys encrypts and identifies contents with credentials.
type keys struct {
	mac  []byte
	aead cipher.AEAD
}

// newKeys derives the store's keys from the secret of the state directory.
func newKeys(secret []byte) (keys, error) {
	block, err := aes.NewCipher(derive(secret, "reviewer checkpoint encryption"))
	if err != nil {
		return keys{}, err
	}
	aead, err := cipher.NewGCM(block)
	return keys{mac: derive(secret, "reviewer checkpoint digest"), aead: aead}, err
}

func derive(secret []byte, label string) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(label))
	return h.Sum(nil)
}

// digest identifies contents.
func (k keys) digest(contents []byte, sealed bool) Digest {
	if !sealed {
		return sha256.Sum256(contents)
	}
	h := hmac.New(sha256.New, k.mac)
	h.Write(contents)
	return Digest(h.Sum(nil))
}

// zstdEncoder and zstdDecoder are made when the first contents are stored or
// read: most processes do neither.
var zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
})

var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(1<<32))
})

// frame encodes contents for the store.
func (k keys) frame(id Digest, contents []byte, sealed bool) ([]byte, error) {
	enc, err := zstdEncoder()
	if err != nil {
		return nil, err
	}
	b := make([]byte, frameHeader, frameHeader+len(contents)/2+64)
	var flags byte
	if b = enc.EncodeAll(contents, b); len(b)-frameHeader < len(contents) {
		flags = flagCompressed
	} else {
		b = append(b[:frameHeader], contents...)
	}
	copy(b, frameMagic)
	copy(b[5:], id[:])
	binary.BigEndian.PutUint64(b[37:], uint64(len(contents)))
	if sealed {
		flags |= flagSealed
		b[4] = flags
		nonce := make([]byte, k.aead.NonceSize())
		if _, err := rand.Read(nonce); err != nil {
			return nil, err
		}
		body := k.aead.Seal(nonce, nonce, b[frameHeader:], b[:45])
		b = append(b[:frameHeader], body...)
	}
	b[4] = flags
	binary.BigEndian.PutUint64(b[45:], uint64(len(b)-frameHeader))
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// frameSize returns the length of a frame from its header.
func frameSize(header []byte) (int64, error) {
	if len(header) < frameHeader || string(header[:4]) != frameMagic {
		return 0, fmt.Errorf("%w: no contents begin here", ErrDamaged)
	}
	n := binary.BigEndian.Uint64(header[45:])
	if n > 1<<40 {
		return 0, fmt.Errorf("%w: contents of %d bytes", ErrDamaged, n)
	}
	return frameHeader + int64(n) + frameSum, nil
}

// open returns the contents of a frame, after checking all its bytes.
func (k keys) open(frame []byte) (id Digest, contents []byte, err error) {
	size, err := frameSize(frame)
	if err != nil {
		return id, nil, err
	}
	if int64(len(frame)) != size {
		return id, nil, fmt.Errorf("%w: %d bytes, not %d", ErrDamaged, len(frame), size)
	}
	id = Digest(frame[5:37])
	end := len(frame) - frameSum
	if sha256.Sum256(frame[:end]) != [32]byte(frame[end:]) {
		return id, nil, fmt.Errorf("%w: the checksum of %.12s differs", ErrDamaged, id)
	}
	contents, err = k.body(frame[:end])
	if err != nil {
		return id, nil, fmt.Errorf("%w: %.12s: %w", ErrDamaged, id, err)
	}
	if k.digest(contents, frame[4]&flagSealed != 0) != id {
		return id, nil, fmt.Errorf("%w: the contents of %.12s have another digest", ErrDamaged, id)
	}
	return id, contents, nil
}

func (k keys) body(frame []byte) (_ []byte, err error) {
	flags, size, body := frame[4], binary.BigEndian.Uint64(frame[37:]), frame[frameHeader:]
	if flags&flagSealed != 0 {
		n := k.aead.NonceSize()
		if len(body) < n {
			return nil, errors.New("too short")
		}
		if body, err = k.aead.Open(nil, body[:n], body[n:], frame[:45]); err != nil {
			return nil, errors.New("encrypted with another key")
		}
	}
	if flags&flagCompressed != 0 {
		dec, err := zstdDecoder()
		if err != nil {
			return nil, err
		}
		if body, err = dec.DecodeAll(body, nil); err != nil {
			return nil, err
		}
	}
	if uint64(len(body)) != size {
		return nil, fmt.Errorf("%d bytes, not %d", len(body), size)
	}
	return body, nil
}
