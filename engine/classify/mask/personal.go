package mask

import (
	"slices"
	"strings"
)

// personal are the kinds of personal data whose replacement policy can
// require, by the names of engine.PersonalKinds.
var personal = map[string]func([]span, string) []span{
	"card": appendCards, "email": appendEmails, "iban": appendIBANs, "phone": appendPhones, "ssn": appendSSNs,
}

// appendPersonal finds personal data of some kinds. Unknown kinds are ignored; the
// schema of settings refuses them.
func appendPersonal(found []span, s string, kinds []string) []span {
	for _, kind := range kinds {
		if find, ok := personal[kind]; ok {
			found = find(found, s)
		}
	}
	return found
}

// appendEmails finds e-mail addresses. kim@a.example:b is an scp target, and git@ is
// the user of every repository host.
func appendEmails(found []span, s string) []span {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '@')
		if i < 0 {
			return found
		}
		at := from + i
		from = at + 1
		begin := at
		for begin > 0 && at-begin < 64 && (dotted(s[begin-1]) || s[begin-1] == '+') {
			begin--
		}
		end := Run(s, at+1, min(len(s), at+254), func(c byte) bool { return Alnum(c) || c == '.' || c == '-' })
		host := strings.TrimRight(s[at+1:end], ".-")
		end = at + 1 + len(host)
		place := end+1 < len(s) && s[end] == ':' && !spacing(s[end+1]) || begin > 0 && s[begin-1] == '/'
		if begin < at && Alnum(s[begin]) && s[begin:at] != "git" && domain(host) && !place {
			found = append(found, span{begin, end, "email"})
			from = end
		}
	}
}

// domain reports whether a host has a name below a top level of letters.
func domain(host string) bool {
	i := strings.LastIndexByte(host, '.')
	return i > 0 && len(host)-i > 2 && identifier(host[i+1:]) && !strings.Contains(host, "..")
}

// appendCards finds payment card numbers: the ranges of the issuers, with the
// check digit of Luhn.
func appendCards(found []span, s string) []span {
	return appendNumbers(found, s, "card", " -", func(text, digits string) bool { return issuedCard(digits) && luhn(digits) })
}

// appendSSNs finds US social security numbers: AAA-GG-NNNN.
func appendSSNs(found []span, s string) []span {
	return appendNumbers(found, s, "ssn", "-", func(text, digits string) bool {
		return len(digits) == 9 && len(text) == 11 && text[3] == '-' && text[6] == '-' &&
			digits[0] != '9' && digits[:3] != "000" && digits[:3] != "666" && digits[3:5] != "00" && digits[5:] != "0000"
	})
}

// appendNumbers finds runs of digits with single separators between them that
// fit as a whole.
func appendNumbers(found []span, s, kind, separators string, fits func(text, digits string) bool) []span {
	for i := 0; i < len(s); i++ {
		if !Digit(s[i]) {
			continue
		}
		end := i
		for end < len(s) && (Digit(s[end]) || end+1 < len(s) && strings.IndexByte(separators, s[end]) >= 0 && Digit(s[end+1])) {
			end++
		}
		if free(s, i, end) && fits(s[i:end], onlyDigits(s[i:end])) {
			found = append(found, span{i, end, kind})
		}
		i = end
	}
	return found
}

// free reports whether s[begin:end] is not part of a longer word or number.
func free(s string, begin, end int) bool {
	before := begin > 0 && (TokenChar(s[begin-1]) || s[begin-1] == '.')
	after := end < len(s) && (TokenChar(s[end]) || s[end] == '.' && end+1 < len(s) && Alnum(s[end+1]))
	return !before && !after
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// issuedCard reports whether a number has the beginning and the length of a
// card's.
func issuedCard(d string) bool {
	if len(d) < 13 || len(d) > 19 {
		return false
	}
	switch n := len(d); {
	case d[0] == '4':
		return n == 13 || n == 16 || n == 19
	case d[:2] >= "51" && d[:2] <= "55", d[:4] >= "2221" && d[:4] <= "2720", d[:4] >= "3528" && d[:4] <= "3589":
		return n == 16
	case d[:2] == "34", d[:2] == "37":
		return n == 15
	case d[:2] == "36", d[:2] == "38":
		return n == 14
	case d[:4] == "6011", d[:2] == "65", d[:2] == "62":
		return n >= 16
	}
	return false
}

// luhn checks the last digit of a number.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// appendIBANs finds bank account numbers, whole or in groups of four.
func appendIBANs(found []span, s string) []span {
	for i := 0; i+15 <= len(s); i++ {
		if !upperChar(s[i]) || !upperChar(s[i+1]) || !Digit(s[i+2]) || !Digit(s[i+3]) || i > 0 && TokenChar(s[i-1]) {
			continue
		}
		if end, ok := ibanEnd(s, i); ok {
			found = append(found, span{i, end, "iban"})
			i = end
		}
	}
	return found
}

// ibanEnd is the last place at which a number that begins at i is complete and has the
// right check digits: words that look like its groups may follow.
func ibanEnd(s string, i int) (int, bool) {
	var bare []byte
	last := 0
	for end := i; end < len(s) && len(bare) < 34; end++ {
		if s[end] == ' ' && len(bare)%4 == 0 {
			continue
		}
		if !upperDigit(s[end]) {
			break
		}
		bare = append(bare, s[end])
		if len(bare) >= 15 && (end+1 == len(s) || !Alnum(s[end+1])) && mod97(bare) {
			last = end + 1
		}
	}
	return last, last > 0
}

// mod97 checks an account number: its first four characters count as its last,
// letters as 10 to 35, and the rest by 97 is 1.
func mod97(iban []byte) bool {
	rest := 0
	for _, c := range slices.Concat(iban[4:], iban[:4]) {
		if Digit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}

// appendPhones finds international phone numbers, +49 30 1234567, and those of
// North America with separators, (555) 123-4567.
func appendPhones(found []span, s string) []span {
	for i := 0; i < len(s); i++ {
		if s[i] != '+' && s[i] != '(' && !Digit(s[i]) {
			continue
		}
		end := phoneEnd(s, i)
		if end > i && free(s, i, end) && phone(s[i:end]) {
			found = append(found, span{i, end, "phone"})
		}
		i = max(i, end-1)
	}
	return found
}

// phoneEnd returns the end of a run of digits with single signs between them.
func phoneEnd(s string, i int) int {
	end, last := i, i
	for ; end < len(s) && end-i < 24; end++ {
		switch {
		case Digit(s[end]):
			last = end + 1
		case strings.IndexByte(" -.()", s[end]) < 0 && (s[end] != '+' || end > i):
			return last
		case end > i && s[end] == s[end-1]:
			return last
		}
	}
	return last
}

func phone(text string) bool {
	digits := onlyDigits(text)
	if text[0] == '+' {
		return len(digits) >= 8 && len(digits) <= 15 && digits[0] != '0' && (len(digits) >= 10 || len(text) > len(digits)+1)
	}
	bare := strings.NewReplacer("(", "", ")", "").Replace(text)
	sign := len(bare) == 12 && strings.IndexByte(" -.", bare[3]) >= 0 && strings.IndexByte("-. ", bare[7]) >= 0
	return sign && len(digits) == 10 && digits[0] >= '2' && digits[3] >= '2' && strings.Count(text, "(") == strings.Count(text, ")") &&
		(strings.Contains(text, "(") || bare[3] == bare[7])
}

// HasPersonal reports whether a string contains personal data of some kinds, which
// are engine.PersonalKinds.
func HasPersonal(text string, kinds []string) bool { return len(appendPersonal(nil, text, kinds)) > 0 }
