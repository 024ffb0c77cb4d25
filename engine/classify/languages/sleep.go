package languages

import (
	"strconv"
)

// LongWait is the shortest sleep that makes a call one that waits, in seconds. It affects
// facts, so a change requires a new version of the classifier.
const LongWait = 1

// SleepSeconds parses a time as sleep(1) does; -1: unknown.
func SleepSeconds(s string) float64 {
	unit := 1.0
	if n := len(s); n > 1 {
		switch s[n-1] {
		case 's':
			s = s[:n-1]
		case 'm':
			s, unit = s[:n-1], 60
		case 'h':
			s, unit = s[:n-1], 3600
		case 'd':
			s, unit = s[:n-1], 86400
		}
	}
	if s == "infinity" || s == "inf" {
		return 1e9
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n * unit
}

// sleepCall reports whether code calls a function that sleeps.
func sleepCall(name string, args []codeValue) bool {
	switch name {
	case "time.sleep", "asyncio.sleep", "sleep", "Kernel.sleep", "gevent.sleep", "trio.sleep", "anyio.sleep":
		return len(args) > 0 && args[0].known && SleepSeconds(args[0].text.Text) >= LongWait
	}
	return false
}
