package mask

// byPair finds rows of a table by the first two bytes of their words. A text is
// asked at each of its bytes, so this is an array and no map.
type byPair[T any] struct {
	group [1 << 16]uint16 // 0: no row
	rows  [][]T
}

// add puts a row below its word, which has two bytes at least.
func (p *byPair[T]) add(word string, row T) {
	at := &p.group[pairOf(word, 0)]
	if *at == 0 {
		p.rows = append(p.rows, nil)
		*at = uint16(len(p.rows))
	}
	p.rows[*at-1] = append(p.rows[*at-1], row)
}

// at returns the rows whose words may begin at i.
func (p *byPair[T]) at(s string, i int) []T {
	if g := p.group[pairOf(s, i)]; g > 0 {
		return p.rows[g-1]
	}
	return nil
}

func pairOf(s string, i int) int { return int(s[i])<<8 | int(s[i+1]) }
