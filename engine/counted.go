package engine

import "fmt"

// Counted writes a count with its noun: 1 file, 2 files.
func Counted[N ~int | ~int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
