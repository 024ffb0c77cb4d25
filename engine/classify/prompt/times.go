package prompt

import "strings"

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
