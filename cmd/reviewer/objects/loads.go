package objects

import "container/heap"

// load is what a task has to read.
type load struct {
	task  int
	bytes int64
}

// loads is a heap of tasks, the lightest first.
type loads []load

func newLoads(n int) *loads {
	l := make(loads, n)
	for i := range l {
		l[i].task = i
	}
	return &l
}

// lightest adds bytes to the task that has the fewest, and returns it.
func (l *loads) lightest(bytes int64) int {
	task := (*l)[0].task
	(*l)[0].bytes += bytes
	heap.Fix(l, 0)
	return task
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (l loads) Len() int { return len(l) }

// Less prefers the task with the smaller number.
func (l loads) Less(a, b int) bool {
	return l[a].bytes < l[b].bytes || l[a].bytes == l[b].bytes && l[a].task < l[b].task
}

// Swap exchanges two tasks.
func (l loads) Swap(a, b int) { l[a], l[b] = l[b], l[a] }

// Push is never called: the number of tasks is fixed.
func (l *loads) Push(x any) { *l = append(*l, x.(load)) }

// Pop is never called.
func (l *loads) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
