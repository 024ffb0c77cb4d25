package client

// Proof returns the number with which a process is asked to prove that it is confined by `reviewer run` for a
// state directory. It is made of the directory's path.
func Proof(home string) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a
	sum := uint64(offset)
	for i := range len(home) {
		sum = (sum ^ uint64(home[i])) * prime
	}
	return sum | 1
}
