package detect

import "slices"

// words finds many words in one pass over a string, after Aho and Corasick. It
// ignores the case of ASCII letters.
type words struct {
	patterns []*pattern
	class    [256]uint8 // of a byte; 0: it is in no word
	classes  int
	next     []int32  // state*classes + class -> 2*state*classes, and 1 where a word ends
	ends     [][]word // state -> words that end there
}

// word is a word of a pattern.
type word struct{ pattern, size int }

// found contains the places of words of patterns, widened to where a match
// can be: by number of the pattern, in order, without overlaps.
type found struct{ spans [][]span }

func newWords(patterns []*pattern) *words {
	w := &words{patterns: patterns, classes: 1}
	bytes := 0
	for _, p := range patterns {
		for _, s := range p.words {
			w.learn(s)
			bytes += len(s)
		}
	}
	w.next = make([]int32, 0, (bytes+1)*w.classes)
	w.grow()
	for i, p := range patterns {
		for _, s := range p.words {
			w.add(s, word{i, len(s)})
		}
	}
	w.link()
	return w
}

// learn gives the bytes of a word classes of their own. There are fewer than
// 255: words are UTF-8 in lower case.
func (w *words) learn(s string) {
	for i := range len(s) {
		c := s[i]
		if w.class[c] > 0 {
			continue
		}
		w.class[c] = uint8(w.classes)
		if c >= 'a' && c <= 'z' {
			w.class[c-'a'+'A'] = w.class[c]
		}
		w.classes++
	}
}

// grow adds a state and returns it.
func (w *words) grow() int {
	w.next = w.next[:len(w.next)+w.classes]
	w.ends = append(w.ends, nil)
	return len(w.ends) - 1
}

func (w *words) add(s string, end word) {
	state := 0
	for i := range len(s) {
		at := state*w.classes + int(w.class[s[i]])
		if w.next[at] == 0 {
			state = w.grow()
			w.next[at] = int32(state)
		}
		state = int(w.next[at])
	}
	w.ends[state] = append(w.ends[state], end)
}

// link completes the transitions: where no word continues, the longest suffix
// of the input that starts a word does.
func (w *words) link() {
	back := make([]int, len(w.ends))
	queue := []int{0}
	for i := 0; i < len(queue); i++ {
		state := queue[i]
		for c := range w.classes {
			at := state*w.classes + c
			other := 0
			if state > 0 {
				other = int(w.next[back[state]*w.classes+c])
			}
			child := int(w.next[at])
			if child == 0 {
				w.next[at] = int32(other)
				continue
			}
			back[child] = other
			w.ends[child] = append(slices.Clip(w.ends[child]), w.ends[other]...)
			queue = append(queue, child)
		}
	}
	for i, state := range w.next {
		w.next[i] = 2 * state * int32(w.classes)
		if len(w.ends[state]) > 0 {
			w.next[i]++
		}
	}
}

// find finds all words in a string.
func (w *words) find(text string) *found {
	f := &found{}
	at := int32(0)
	for i := range len(text) {
		step := w.next[at+int32(w.class[text[i]])]
		at = step >> 1
		if step&1 == 0 {
			continue
		}
		for _, end := range w.ends[int(at)/w.classes] {
			f.add(w.patterns[end.pattern], len(w.patterns), i+1-end.size, i+1, len(text))
		}
	}
	return f
}

// add widens a word to where a match can be. Words arrive ordered by their
// ends, so that the spans of a pattern arrive ordered by their starts.
func (f *found) add(p *pattern, patterns, start, end, size int) {
	if f.spans == nil {
		f.spans = make([][]span, patterns)
	}
	s := span{max(0, end-p.longest-margin), min(size, start+p.longest+margin)} // where a match can be
	list := f.spans[p.number]
	if n := len(list); n > 0 && s.from <= list[n-1].to {
		list[n-1].to = max(list[n-1].to, s.to)
		return
	}
	f.spans[p.number] = append(list, s)
}

func (f *found) of(p *pattern) []span {
	if f.spans == nil {
		return nil
	}
	return f.spans[p.number]
}
