package abstract

import (
	"math"
	"strconv"
	"strings"
)

// ByteCount parses a size such as 512, 10M, 2GiB or 1TB; units that only some programs know
// are powers of 1024 too.
func ByteCount(s string) (int64, bool) {
	digits := strings.TrimLeft(s, "0123456789")
	n, err := strconv.ParseInt(s[:len(s)-len(digits)], 10, 64)
	if err != nil {
		return 0, false
	}
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(digits), "b"), "i")
	power := strings.Index("kmgtpe", unit) + 1
	if unit == "" {
		power = 0
	} else if len(unit) > 1 || power == 0 {
		return 0, false
	}
	if n > math.MaxInt64>>(10*power) {
		return math.MaxInt64, true
	}
	return n << (10 * power), true
}
