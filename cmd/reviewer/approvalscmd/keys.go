package approvalscmd

import "unicode/utf8"

// key is a key that was pressed: a character, or one of those below.
type key rune

const (
	keyEnter  key = '\r'
	keyEscape key = 0x1b
	keyErase  key = 0x7f
	keyQuit   key = 0x03 // Ctrl-C
	keyStop   key = 0x1a // Ctrl-Z
	keyUp     key = -1
	keyDown   key = -2
	keyOther  key = -3 // a sequence without a meaning here
)

// The sequences around pasted text, in terminals that mark it.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// keys reads keys from what a terminal sent.
type keys struct{ pasting bool }

// typedKey is a key, or a character of pasted text, which must not answer questions.
type typedKey struct {
	key
	pasted bool
}

// read returns the keys in a piece of input.
func (k *keys) read(b []byte) []typedKey {
	var list []typedKey
	for len(b) > 0 {
		n, pressed := sequence(b)
		switch text := string(b[:n]); {
		case text == pasteBegin:
			k.pasting = true
		case text == pasteEnd:
			k.pasting = false
		default:
			list = append(list, typedKey{pressed, k.pasting})
		}
		b = b[n:]
	}
	return list
}

// sequence returns the length of the first key in a piece of input, and the key.
func sequence(b []byte) (int, key) {
	if b[0] != 0x1b || len(b) == 1 {
		return single(b)
	}
	if b[1] != '[' && b[1] != 'O' {
		return 2, keyOther // Alt and a key
	}
	n := 2
	for n < len(b) && (b[n] < 0x40 || b[n] > 0x7e) {
		n++
	}
	if n == len(b) {
		return n, keyOther
	}
	switch b[n] {
	case 'A':
		return n + 1, keyUp
	case 'B':
		return n + 1, keyDown
	}
	return n + 1, keyOther
}

func single(b []byte) (int, key) {
	r, n := utf8.DecodeRune(b)
	switch r {
	case '\n':
		return n, keyEnter
	case '\b':
		return n, keyErase
	case utf8.RuneError:
		return n, keyOther
	}
	return n, key(r)
}
