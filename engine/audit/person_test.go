package audit

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/history"
)

// hand is a person's key.
type hand struct{ private ed25519.PrivateKey }

func newHand(letter string) *hand {
	return &hand{ed25519.NewKeyFromSeed([]byte(strings.Repeat(letter, ed25519.SeedSize)))}
}

func (h *hand) Sign(b []byte) []byte { return ed25519.Sign(h.private, b) }

func (h *hand) Key() engine.PersonKey {
	return engine.PersonKey{Public: hex.EncodeToString(h.private.Public().(ed25519.PublicKey)), Salt: "00", Passes: 1, Memory: 32}
}

// withKey returns a store whose ledger has a person's key.
func withKey(t testing.TB) (*Store, *hand) {
	s, person := testStore(t), newHand("p")
	if err := s.SetPersonKey(context.Background(), person.Key(), "anna", nil); err != nil {
		t.Fatal(err)
	}
	return s, person
}

func stateOfSession(t *testing.T, s *Store, key engine.SessionKey) (own *history.State) {
	t.Helper()
	reader := &Store{Dir: s.Dir, Now: s.Now}
	err := reader.Update(context.Background(), key, func(tail history.Tail) (err error) {
		own, err = tail.History.Clone()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return own
}

func TestSignedChoices(t *testing.T) {
	ctx := context.Background()
	s, person := withKey(t)
	mustAdd(t, s, testKey, pre("a"))
	stop, resume := engine.Control{Do: engine.ControlStop, Reason: "enough", By: "anna"}, engine.Control{Do: engine.ControlResume, By: "anna"}
	if err := s.Control(ctx, testKey, stop, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Control(ctx, testKey, resume, nil); !errors.Is(err, ErrUnsigned) {
		t.Errorf("resumed without a code: %v", err)
	}
	if err := s.Control(ctx, testKey, resume, newHand("x")); err != nil {
		t.Fatal(err)
	}
	if h := stateOfSession(t, s, testKey); h.Stop == nil || h.Unsigned != 1 {
		t.Errorf("another key ends a stop: %+v, %d", h.Stop, h.Unsigned)
	}
	if err := s.Control(ctx, testKey, resume, person); err != nil {
		t.Fatal(err)
	}
	if h := stateOfSession(t, s, testKey); h.Stop != nil || h.Unsigned != 1 {
		t.Errorf("the person's key does not end a stop: %+v, %d", h.Stop, h.Unsigned)
	}
	list, err := s.Stopped()
	if err != nil || len(list) != 0 {
		t.Errorf("stopped in the ledger: %+v, %v", list, err)
	}
}

// forge appends a line to a session's newest file as a program of the same user can.
func forge(t *testing.T, s *Store, key engine.SessionKey, change func(before *engine.Record, r *engine.Record)) {
	t.Helper()
	file := newChain(s.sessionDir(key)).path(1)
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n")
	last, err := engine.DecodeLine([]byte(strings.TrimSuffix(list[len(list)-1], "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := &engine.Record{V: 1, Prev: engine.LineHash([]byte(strings.TrimSuffix(list[len(list)-1], "\n") + "\n")), N: last.N + 1, Kind: engine.KindControl,
		T: last.T + 1, Chain: last.Chain, Session: last.Session, Harness: last.Harness}
	change(last, r)
	line, err := engine.EncodeLine(r)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(line); err != nil {
		t.Fatal(err)
	}
}

func TestForgedChoices(t *testing.T) {
	ctx := context.Background()
	resume := engine.Control{Do: engine.ControlResume, By: "anna"}
	signedBy := func(h *hand, home string) func(_, r *engine.Record) {
		return func(_, r *engine.Record) {
			k, c := h.Key(), resume
			c.Signed, r.Control = &engine.Signature{Key: k.Fingerprint(), Home: home}, &c
			b, err := r.SignedBytes()
			if err != nil {
				t.Fatal(err)
			}
			c.Signed.Sig = hex.EncodeToString(h.Sign(b))
		}
	}
	forgeries := map[string]func(t *testing.T, s *Store, earlier *engine.Record){
		"an unsigned choice": func(t *testing.T, s *Store, _ *engine.Record) {
			forge(t, s, testKey, func(_, r *engine.Record) { r.Control = &resume })
		},
		"a choice signed with another key": func(t *testing.T, s *Store, _ *engine.Record) {
			forge(t, s, testKey, signedBy(newHand("x"), ""))
		},
		"an earlier choice again": func(t *testing.T, s *Store, earlier *engine.Record) {
			forge(t, s, testKey, func(_, r *engine.Record) { r.Control = earlier.Control })
		},
		"an earlier choice for another act": func(t *testing.T, s *Store, earlier *engine.Record) {
			forge(t, s, testKey, func(_, r *engine.Record) {
				c := *earlier.Control
				c.Do, r.Control = engine.ControlAllowSession, &c
			})
		},
		"a key of its own, and a choice signed with it": func(t *testing.T, s *Store, _ *engine.Record) {
			k := newHand("x").Key()
			forge(t, s, testKey, func(_, r *engine.Record) { r.Control = &engine.Control{Do: engine.ControlKey, Key: &k} })
			forge(t, s, testKey, signedBy(newHand("x"), ""))
		},
		"the stop cut off": func(t *testing.T, s *Store, _ *engine.Record) {
			file := newChain(s.sessionDir(testKey)).path(1)
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			whole := strings.TrimSuffix(string(raw), "\n")
			if err := os.WriteFile(file, []byte(whole[:strings.LastIndex(whole, "\n")+1]), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(snapshotPath(s.sessionDir(testKey))); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		},
		"a keyframe without the stop": func(t *testing.T, s *Store, _ *engine.Record) {
			forge(t, s, testKey, func(_, r *engine.Record) {
				h := history.New()
				h.Chain, h.Session, h.Harness, h.N, h.T = r.Chain, r.Session, r.Harness, r.N-1, r.T
				state, err := h.Encode()
				if err != nil {
					t.Fatal(err)
				}
				r.Kind, r.State = engine.KindKeyframe, state
			})
		},
		"the session's folder removed": func(t *testing.T, s *Store, _ *engine.Record) {
			if err := os.Rename(s.sessionDir(testKey), filepath.Join(t.TempDir(), "away")); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, forgery := range forgeries {
		t.Run(name, func(t *testing.T) {
			s, person := withKey(t)
			mustAdd(t, s, testKey, pre("a"))
			stop := engine.Control{Do: engine.ControlStop, Reason: "enough", By: "anna"}
			if err := errors.Join(s.Control(ctx, testKey, stop, nil), s.Control(ctx, testKey, resume, person)); err != nil {
				t.Fatal(err)
			}
			var earlier *engine.Record
			for r, err := range s.Records(testKey, 0) {
				if err != nil {
					t.Fatal(err)
				}
				earlier = r
			}
			if err := s.Control(ctx, testKey, stop, nil); err != nil {
				t.Fatal(err)
			}
			forgery(t, s, earlier)
			broken(t, s)
			reader := &Store{Dir: s.Dir, Now: s.Now}
			err := add(reader, testKey, pre("b"))
			if damage := (*Damage)(nil); errors.As(err, &damage) {
				return // the call is denied
			} else if err != nil {
				t.Fatal(err)
			}
			if h := stateOfSession(t, s, testKey); h.Stop == nil {
				t.Errorf("the stop has ended; state %+v", h)
			}
		})
	}
}

func TestKeysFollowEachOther(t *testing.T) {
	ctx := context.Background()
	s, person := withKey(t)
	mustAdd(t, s, testKey, pre("a"))
	next := newHand("n")
	for name, signer := range map[string]Signer{"nobody": nil, "itself": next} {
		if err := s.SetPersonKey(ctx, next.Key(), "anna", signer); err != nil {
			t.Fatal(err)
		}
		if k, _, err := s.PersonKey(); err != nil || *k != person.Key() {
			t.Errorf("a key that %s signed counts: %+v, %v", name, k, err)
		}
	}
	if err := s.SetPersonKey(ctx, next.Key(), "anna", person); err != nil {
		t.Fatal(err)
	}
	if k, _, err := s.PersonKey(); err != nil || *k != next.Key() {
		t.Errorf("a key that the earlier one signed does not count: %+v, %v", k, err)
	}
	if h := stateOfSession(t, s, testKey); h.Person == nil || *h.Person != next.Key() || len(h.Keys) != 2 {
		t.Errorf("the session has the keys %v", h.Keys)
	}
}

// signedLine appends to the ledger a choice that somebody signed with a key of their own.
func signedLine(t *testing.T, s *Store, c engine.Control, by *hand) {
	t.Helper()
	var signer Signer
	if by != nil {
		signer = by
	}
	err := s.ledgerSigned(context.Background(), signer, &engine.Record{Kind: engine.KindControl, T: s.now(), Control: &c})
	if err != nil {
		t.Fatal(err)
	}
}

// The hook was given the fingerprint of the person's key, and the ledger begins with another key: what that one signed
// does not count, although it also signed the person's.
func TestKeysBeforeTheFingerprint(t *testing.T) {
	ctx := context.Background()
	for _, follows := range []bool{false, true} {
		s, planted, person := testStore(t), newHand("x"), newHand("p")
		plantedKey, personKey := planted.Key(), person.Key()
		s.Fingerprint = personKey.Fingerprint()
		mustAdd(t, s, testKey, pre("a"))
		if err := s.Control(ctx, testKey, engine.Control{Do: engine.ControlStop, By: "anna"}, nil); err != nil {
			t.Fatal(err)
		}
		signedLine(t, s, engine.Control{Do: engine.ControlKey, Key: &plantedKey}, nil)
		signedLine(t, s, engine.Control{Do: engine.ControlTrust, Digest: "d"}, planted)
		blind := &Store{Dir: s.Dir, Now: s.Now} // a program that believes the ledger
		if err := blind.Control(ctx, testKey, engine.Control{Do: engine.ControlResume, By: "x"}, planted); err != nil {
			t.Fatal(err)
		}
		allow := engine.Control{Do: engine.ControlAllowSession, Print: "p", CWD: "/srv", By: "x"}
		if err := errors.Join(blind.Control(ctx, testKey, allow, planted),
			blind.Control(ctx, testKey, engine.Control{Do: engine.ControlScope, Path: "/"}, planted)); err != nil {
			t.Fatal(err)
		}
		if err := s.CheckFingerprint(); !errors.Is(err, ErrOtherKey) {
			t.Errorf("a planted key: %v", err)
		}
		check := func(when string) {
			t.Helper()
			own := stateWith(t, s)
			if own.Stop == nil || len(own.Allowed) > 0 || len(own.Goals.Scope) > 0 || own.Trusts(&engine.Record{}) {
				t.Errorf("%s, a planted key lifts something: %+v", when, own)
			}
			if acts, err := s.Acts(engine.ControlTrust); err != nil || len(acts) > 0 {
				t.Errorf("%s, it trusts: %v, %v", when, acts, err)
			}
		}
		check("before the person's key")
		var by *hand
		if follows {
			by = planted
		}
		signedLine(t, s, engine.Control{Do: engine.ControlKey, Key: &personKey}, by)
		check("after it")
		if k, _, err := s.PersonKey(); err != nil || k == nil || *k != personKey || s.CheckFingerprint() != nil {
			t.Errorf("the key is %+v, %v, %v", k, err, s.CheckFingerprint())
		}
		if err := s.Control(ctx, testKey, engine.Control{Do: engine.ControlResume, By: "anna"}, person); err != nil {
			t.Fatal(err)
		}
		if own := stateWith(t, s); own.Stop != nil || len(own.Keys) != 1 {
			t.Errorf("the person's key does not count: %+v, keys %v", own.Stop, own.Keys)
		}
	}
}

// stateWith is the state of the session as a store sees it.
func stateWith(t *testing.T, s *Store) (own *history.State) {
	t.Helper()
	reader := &Store{Dir: s.Dir, Now: s.Now, Fingerprint: s.Fingerprint}
	err := reader.Update(context.Background(), testKey, func(tail history.Tail) (err error) {
		own, err = tail.History.Clone()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return own
}

// A session that began under this machine's key goes on under the settings of another machine: its calls are judged.
func TestFingerprintOfAnotherMachine(t *testing.T) {
	ctx := context.Background()
	s, person := withKey(t)
	mustAdd(t, s, testKey, pre("a"))
	if err := s.Control(ctx, testKey, engine.Control{Do: engine.ControlAllowSession, Print: "p", CWD: "/srv", By: "anna"}, person); err != nil {
		t.Fatal(err)
	}
	elsewhere, now := newHand("e").Key(), person.Key()
	s.Fingerprint = elsewhere.Fingerprint()
	s.person = nil
	if own := stateWith(t, s); len(own.Allowed) > 0 || own.Person != nil {
		t.Errorf("the key counts: %+v", own)
	}
	if err := add(&Store{Dir: s.Dir, Now: s.Now, Fingerprint: s.Fingerprint}, testKey, pre("b")); err != nil {
		t.Errorf("the call is not judged: %v", err)
	}
	s.Fingerprint = now.Fingerprint()
	if own := stateWith(t, s); own.Person == nil || *own.Person != now {
		t.Errorf("with the right fingerprint the key does not count: %+v", own.Person)
	}
}

// A code that an agent may know makes its successor and nothing else.
func TestSeenCode(t *testing.T) {
	ctx := context.Background()
	s, person := withKey(t)
	next, k := newHand("n"), person.Key()
	mustAdd(t, s, testKey, pre("a"))
	signedLine(t, s, engine.Control{Do: engine.ControlTrust, Digest: "before"}, person)
	if err := s.Note(ctx, engine.Note{What: NoteCodeSeen, Detail: "0123456789abcdef0123456789abcdef"}); err != nil {
		t.Fatal(err)
	}
	if seen, err := s.CodeSeen(); seen || err != nil {
		t.Errorf("the code of another key was seen: %v, %v", seen, err)
	}
	if err := errors.Join(s.Control(ctx, testKey, engine.Control{Do: engine.ControlStop, By: "anna"}, nil),
		s.Note(ctx, engine.Note{What: NoteCodeSeen, Detail: k.Fingerprint()})); err != nil {
		t.Fatal(err)
	}
	signedLine(t, s, engine.Control{Do: engine.ControlTrust, Digest: "after"}, person)
	if err := s.Control(ctx, testKey, engine.Control{Do: engine.ControlResume, By: "x"}, person); err != nil {
		t.Fatal(err)
	}
	seen, err := s.CodeSeen()
	acts, err2 := s.Acts(engine.ControlTrust)
	if own := stateWith(t, s); !seen || own.Stop == nil || len(acts) != 1 || acts[0].Control.Digest != "before" || err != nil || err2 != nil {
		t.Errorf("a code that was seen: %v, stop %+v, acts %v, %v, %v", seen, own.Stop, acts, err, err2)
	}
	if err := s.SetPersonKey(ctx, next.Key(), "anna", person); err != nil {
		t.Fatal(err)
	}
	if err := s.Control(ctx, testKey, engine.Control{Do: engine.ControlResume, By: "anna"}, next); err != nil {
		t.Fatal(err)
	}
	if seen, err := s.CodeSeen(); seen || err != nil || stateWith(t, s).Stop != nil {
		t.Errorf("its successor does not count: %v, %v", seen, err)
	}
}

// What a person signs names the record that it answers and the active policy.
func TestSignatureCovers(t *testing.T) {
	s, person := withKey(t)
	s.Policy = func(string) string { return "digest of the policy" }
	mustAdd(t, s, testKey, pre("a"))
	var answered Line
	for line, err := range s.Lines(testKey, 2) {
		if err != nil {
			t.Fatal(err)
		}
		answered = line
	}
	r, err := readRecord(answered.Raw)
	if err != nil {
		t.Fatal(err)
	}
	choice := engine.Control{Do: engine.ControlAllowOnce, Record: r.ID(), Print: "p", Signed: &engine.Signature{Expires: 1 << 50}}
	if err := s.Control(context.Background(), testKey, choice, person); err != nil {
		t.Fatal(err)
	}
	for r, err := range s.Records(testKey, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Control; c != nil && c.Do == engine.ControlAllowOnce {
			if c.Signed.Answers != engine.LineHash(answered.Raw) || c.Signed.Policy != "digest of the policy" || c.Signed.Expires != 1<<50 {
				t.Errorf("signed %+v", c.Signed)
			}
			return
		}
	}
	t.Error("the choice is not in the log")
}

// A line of the ledger that the person signed counts at its place, and not a second time after it.
func TestRepeatedLineOfTheLedger(t *testing.T) {
	ctx := context.Background()
	s, person := withKey(t)
	mustAdd(t, s, testKey, pre("a"))
	stop, resume := engine.Control{Do: engine.ControlStop, Reason: "enough"}, engine.Control{Do: engine.ControlResume, By: "anna"}
	if err := errors.Join(s.Control(ctx, testKey, stop, nil), s.Control(ctx, testKey, resume, person)); err != nil {
		t.Fatal(err)
	}
	length := int(stateOfSession(t, s, testKey).N)
	if err := s.Control(ctx, testKey, stop, nil); err != nil {
		t.Fatal(err)
	}
	rewrite(t, s, s.ledgerDir(), func(l []string) []string {
		last := len(l) - 1 // it is empty
		return append(l[:last:last], l[last-2], "")
	})
	rewrite(t, s, s.sessionDir(testKey), func(l []string) []string { return l[:length] })
	refused(t, add(&Store{Dir: s.Dir, Now: s.Now}, testKey, pre("b")), "lines were removed, repeated or moved")
}
