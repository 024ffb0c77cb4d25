package audit

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/osfile"
)

// SealLine is a seal in the form that is sent off the machine: one JSON line.
type SealLine struct {
	T       int64  `json:"t"` // Unix milliseconds
	Session string `json:"session,omitempty"`
	Harness string `json:"harness,omitempty"` // without session and harness: the ledger's own
	engine.Seal
}

// Seal covers a session's chain up to its newest line, in the chain and in the
// ledger. A chain that is sealed to its end is not sealed again.
func (s *Store) Seal(ctx context.Context, key engine.SessionKey) (SealLine, error) {
	sign, err := s.signer()
	if err != nil {
		return SealLine{}, err
	}
	dir := s.sessionDir(key)
	if files, err := chainFiles(dir); err != nil || len(files) == 0 {
		return SealLine{}, noSession(key, err)
	}
	var line SealLine
	err = s.update(ctx, dir, func(h *lockedChain) error {
		if h.key = key; h.c.state.Empty() {
			return noSession(key, nil)
		}
		if err := h.checkOwner(); err != nil {
			return err
		}
		line, err = s.seal(ctx, h, sign)
		return err
	})
	return line, err
}

func (s *Store) seal(ctx context.Context, h *lockedChain, sign func(engine.Seal) engine.Seal) (SealLine, error) {
	newest, err := h.c.read(h.c.state.N)
	if err != nil {
		return SealLine{}, err
	}
	if newest.Kind == engine.KindSeal {
		known, err := s.newestSeals()
		if err != nil {
			return SealLine{}, err
		}
		if line := known[newest.Chain]; line.N == newest.N {
			return line, nil
		}
	} else if err := h.append(&engine.Record{Kind: engine.KindSeal, T: s.now(),
		Seal: &engine.Seal{N: h.c.state.N, Head: h.c.end.Head}}); err != nil {
		return SealLine{}, err
	}
	seal := sign(engine.Seal{Chain: h.c.state.Chain, N: h.c.state.N, Head: h.c.end.Head})
	line := SealLine{T: h.c.state.T, Session: h.key.Session, Harness: h.key.Harness, Seal: seal}
	return line, s.ledger(ctx, &engine.Record{Kind: engine.KindSeal, T: line.T, Session: line.Session, Harness: line.Harness, Seal: &seal})
}

// SealAll seals each readable session, and reports the others.
func (s *Store) SealAll(ctx context.Context) error {
	list, err := s.Sessions()
	if err != nil {
		return err
	}
	var failed []error
	for _, one := range list {
		if one.Err == nil {
			_, one.Err = s.Seal(ctx, one.Key)
		}
		failed = append(failed, one.Err)
	}
	return errors.Join(failed...)
}

// SealTo writes the newest seal of each chain, and one of the current ledger. Another machine keeps
// them, and Verify checks the log against them.
func (s *Store) SealTo(ctx context.Context, w io.Writer) error {
	sign, err := s.signer()
	if err != nil {
		return err
	}
	known, err := s.newestSeals()
	if err != nil {
		return err
	}
	chains := make([]string, 0, len(known))
	for chain := range known {
		chains = append(chains, chain)
	}
	slices.Sort(chains)
	lines := make([]SealLine, 0, len(chains)+1)
	for _, chain := range chains {
		lines = append(lines, known[chain])
	}
	err = s.update(ctx, s.ledgerDir(), func(h *lockedChain) error {
		if !h.c.state.Empty() {
			seal := sign(engine.Seal{Chain: h.c.state.Chain, N: h.c.state.N, Head: h.c.end.Head})
			lines = append(lines, SealLine{T: s.now(), Seal: seal})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeSeals(w, lines)
}

func writeSeals(w io.Writer, lines []SealLine) error {
	enc := json.NewEncoder(w)
	for _, line := range lines {
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("write seals: %w", err)
		}
	}
	return nil
}

// ReadSeals reads what SealTo wrote.
func ReadSeals(r io.Reader) ([]SealLine, error) {
	var lines []SealLine
	in := bufio.NewScanner(r)
	for number := 1; in.Scan(); number++ {
		var line SealLine
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if line.Chain == "" || line.N < 1 || len(line.Head) != hashHex {
			return nil, fmt.Errorf("line %d lacks chain, n or head", number)
		}
		lines = append(lines, line)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read seals: %w", err)
	}
	return lines, nil
}

func (s *Store) newestSeals() (map[string]SealLine, error) {
	known := map[string]SealLine{}
	for r, err := range s.Ledger() {
		if err != nil {
			return nil, err
		}
		if r.Kind == engine.KindSeal && r.Seal != nil {
			known[r.Seal.Chain] = SealLine{T: r.T, Session: r.Session, Harness: r.Harness, Seal: *r.Seal}
		}
	}
	return known, nil
}

// sealText is the text that a seal's signature covers.
func sealText(s engine.Seal) []byte {
	return fmt.Appendf(nil, "reviewer seal v1\n%s\n%d\n%s\n", s.Chain, s.N, s.Head)
}

// signer returns a function that signs a seal; without a key it changes
// nothing.
func (s *Store) signer() (func(engine.Seal) engine.Seal, error) {
	if s.SealKey == "" {
		return func(seal engine.Seal) engine.Seal { return seal }, nil
	}
	key, err := readSealKey(s.SealKey)
	if err != nil {
		return nil, fmt.Errorf("read seal key: %w", err)
	}
	public := hex.EncodeToString(key.Public().(ed25519.PublicKey))
	return func(seal engine.Seal) engine.Seal {
		seal.Sig, seal.Key = hex.EncodeToString(ed25519.Sign(key, sealText(seal))), public
		return seal
	}, nil
}

// pkcs8Begin is the beginning of the PKCS #8 form of each ed25519 key (RFC
// 8410); the 32 bytes of the seed follow. Reading it so spares each hook
// crypto/x509.
const pkcs8Begin = "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"

func readSealKey(path string) (ed25519.PrivateKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := osfile.Private(f, 0o077); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, 1<<16))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(raw)
	if block == nil || len(block.Bytes) != len(pkcs8Begin)+ed25519.SeedSize || string(block.Bytes[:len(pkcs8Begin)]) != pkcs8Begin {
		return nil, fmt.Errorf("%s does not contain an ed25519 key: create one with `openssl genpkey -algorithm ed25519`", path)
	}
	return ed25519.NewKeyFromSeed(block.Bytes[len(pkcs8Begin):]), nil
}

// checkSignature returns an error for a bad signature of a seal. Without a
// trusted key it can only detect that the signature does not match the key that
// the seal names.
func checkSignature(s engine.Seal, trusted ed25519.PublicKey) error {
	if s.Sig == "" && trusted == nil {
		return nil
	}
	sig, err := hex.DecodeString(s.Sig)
	key, kerr := hex.DecodeString(s.Key)
	switch {
	case s.Sig == "":
		return errors.New("the seal is not signed")
	case err != nil || kerr != nil || len(key) != ed25519.PublicKeySize:
		return errors.New("the seal's signature cannot be read")
	case trusted != nil && !trusted.Equal(ed25519.PublicKey(key)):
		return errors.New("the seal is signed with a key other than the trusted one")
	case !ed25519.Verify(key, sealText(s), sig):
		return errors.New("the seal's signature does not match it")
	}
	return nil
}
