package programs

import "slices"

// row is a row of a table: what some names stand for.
type row[T any] struct {
	names []string
	is    T
}

// rowOf returns what a name stands for in a table, if a row has it.
func rowOf[T any](table []row[T], name string) (is T, ok bool) {
	for i := range table {
		if slices.Contains(table[i].names, name) {
			return table[i].is, true
		}
	}
	return is, false
}
