package mask

func lowerDigitChar(c byte) bool { return Digit(c) || c >= 'a' && c <= 'z' }

// Alnum reports whether a byte is an ASCII letter or digit.
func Alnum(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// Digit reports whether a byte is an ASCII digit.
func Digit(c byte) bool { return c >= '0' && c <= '9' }

// TokenChar are the characters of tokens, keys and identifiers.
func TokenChar(c byte) bool { return Alnum(c) || c == '_' || c == '-' }

// Base64Char reports whether a byte may be in base64, of either alphabet.
func Base64Char(c byte) bool { return TokenChar(c) || c == '+' || c == '/' || c == '=' }

func dotted(c byte) bool { return TokenChar(c) || c == '.' }

// HexChar reports whether a byte is a hexadecimal digit.
func HexChar(c byte) bool { return Digit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func upperDigit(c byte) bool { return Digit(c) || c >= 'A' && c <= 'Z' }

// Run returns where the run of chars that begins at i ends, at most limit.
func Run(s string, i, limit int, chars func(byte) bool) int {
	for i < limit && chars(s[i]) {
		i++
	}
	return i
}

func upperChar(c byte) bool { return c >= 'A' && c <= 'Z' }

func lowerChar(c byte) bool { return c >= 'a' && c <= 'z' }

func lowerHex(c byte) bool { return Digit(c) || c >= 'a' && c <= 'f' }

// Blank reports whether a byte is a space or a tab.
func Blank(c byte) bool { return c == ' ' || c == '\t' }

func isWord(r rune) bool { return r < 0x80 && Alnum(byte(r)) }

func spacing(c byte) bool { return Blank(c) || c == '\n' || c == '\r' }

func hexDigits(s string) bool { return Run(s, 0, len(s), HexChar) == len(s) }
