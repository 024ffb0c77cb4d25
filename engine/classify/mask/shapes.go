package mask

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/rows"
)

// appendShapes finds tokens that have no prefix but a marker inside.
func (f *Formats) appendShapes(found []span, s string) []span {
	for _, k := range f.shapes {
		found = k.appendTo(found, s)
	}
	for _, find := range f.finders {
		found = find(found, s)
	}
	return found
}

// shape is a marker with a run of characters before and after it.
type shape struct {
	kind             string
	before           rows.Run
	mark             string
	after            rows.Run
	bounded          bool // neither run is part of a longer word
	digitBeforeStart bool // the character before the mark is a digit
	start            bool // only where no letter or digit is before
}

func (f shape) appendTo(found []span, s string) []span {
	for from := 0; ; {
		i := strings.Index(s[from:], f.mark)
		if i < 0 {
			return found
		}
		i += from
		from = i + len(f.mark)
		if f.digitBeforeStart && (i == 0 || !Digit(s[i-1])) {
			continue
		}
		start, end := i, from
		for start > 0 && i-start < f.before.Max && f.before.Class.Has(s[start-1]) {
			start--
		}
		for end < len(s) && end-from <= f.after.Max && f.after.Class.Has(s[end]) {
			end++
		}
		if f.start && !opens(s, start) && !strings.HasSuffix(s[:start], "/bot") {
			continue // longer than an id
		}
		n := end - from
		if i-start < f.before.Min || n < f.after.Min || n > f.after.Max || f.bounded && !alone(s, start, end) || filler(s[start:end]) {
			continue
		}
		found = append(found, span{start, end, f.kind})
	}
}

// alone reports whether s[start:end] is not part of a longer word or of base64.
func alone(s string, start, end int) bool {
	before := start > 0 && !opens(s, start) || start > 0 && strings.IndexByte("~@/-.", s[start-1]) >= 0
	return !before && (end == len(s) || !Alnum(s[end]) && s[end] != '~')
}

// appendDiscord finds bot tokens: 24 to 26 characters that are the base64 of a
// number, 6, and 27 to 38, with dots between.
func appendDiscord(found []span, s string) []span {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '.')
		if i < 0 {
			return found
		}
		i += from
		from = i + 1
		if i+7 >= len(s) || s[i+7] != '.' || i < 24 {
			continue
		}
		start, ok := discordStart(s, i)
		end := Run(s, i+8, min(len(s), i+8+39), TokenChar)
		if c := end - (i + 8); ok && Run(s, i+1, i+7, TokenChar) == i+7 && c >= 27 && c <= 38 && mixed(s[start:end]) {
			found = append(found, span{start, end, "discord_token"})
			from = end
		}
	}
}

// discordStart is the first place before the dot where the id of a bot begins:
// digits in base64 begin with M, N or O.
func discordStart(s string, dot int) (int, bool) {
	first := dot
	for first > 0 && dot-first < 26 && TokenChar(s[first-1]) {
		first--
	}
	for ; dot-first >= 24; first++ {
		if s[first] >= 'M' && s[first] <= 'O' {
			return first, true
		}
	}
	return 0, false
}
