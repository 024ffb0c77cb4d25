package prompt

import "strings"

// times puts together what names a time of day, such as "at 22:00", "um 22 Uhr" and "at 10 pm", as a word for a time that is to
// come: who orders something for then does not order it now. A time by itself is the name of something: remove 10:30 from times.txt.
func times(t []token) []token {
	list := make([]token, 0, len(t))
	for i := 0; i < len(t); i++ {
		w := t[i]
		n := len(list)
		written, number := timeOfDay(w.text)
		after := n > 0 && list[n-1].in("clock")
		hours := number && i+1 < len(t) && t[i+1].in("hours")
		if w.kind != ident || !hours && (!written || !after) {
			list = append(list, w)
			continue
		}
		if after {
			n--
		}
		w = token{entry: &entry{lists: []string{"future"}}, text: w.text}
		if hours {
			i++
			w.text += " " + t[i].text
		}
		list = append(list[:n], w)
	}
	return list
}

// timeOfDay reports whether a word is a time of day, as 22:00, 10pm and 22h30 are, and whether it is a number of hours.
func timeOfDay(s string) (written, number bool) {
	hour := strings.TrimLeft(s, "0123456789")
	if digits := len(s) - len(hour); digits == 0 || digits > 2 {
		return false, false
	}
	switch rest := strings.ToLower(hour); {
	case rest == "":
		return false, true
	case rest == "am", rest == "pm", rest == "h":
		return true, false
	case rest[0] == ':', rest[0] == 'h':
		minutes := strings.TrimSuffix(strings.TrimSuffix(rest[1:], "am"), "pm")
		return len(minutes) == 2 && strings.Trim(minutes, "0123456789") == "", false
	}
	return false, false
}
