package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// Progress is the line on a terminal that shows the progress of a long run. Several
// goroutines may count at once; without a terminal it only counts.
type Progress struct {
	start     time.Time
	Total     atomic.Int64 // bytes to read; 0: not known yet
	Bytes     atomic.Int64 // bytes that were read
	Decisions atomic.Int64

	out  *os.File   // nil: no terminal
	line sync.Mutex // held while something is written to the terminal
	stop chan struct{}
	done sync.WaitGroup
}

// redraw is how often the line is drawn: often enough to be smooth, and seldom
// enough to cost nothing.
const redraw = 100 * time.Millisecond

// ShowProgress begins to show the progress of a run on standard error, if that
// is a terminal. The caller ends it before anything else is written there.
func (s *Streams) ShowProgress(start time.Time) *Progress {
	p := &Progress{start: start, stop: make(chan struct{})}
	if f, ok := s.Stderr.(*os.File); ok && IsTerminal(f) && s.Env("TERM") != "dumb" {
		p.out = f
		p.done.Go(p.draw)
	}
	return p
}

// draw shows the line at once, and again until the run ends.
func (p *Progress) draw() {
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		p.line.Lock()
		p.show(p.out, terminalWidth(p.out), time.Since(p.start))
		p.line.Unlock()
		select {
		case <-p.stop:
			fmt.Fprint(p.out, eraseLine)
			return
		case <-ticker.C:
		}
	}
}

// eraseLine goes to the beginning of a line and erases it.
const eraseLine = "\r\x1b[K"

func (p *Progress) show(w io.Writer, width int, elapsed time.Duration) {
	v := advance{p.Bytes.Load(), p.Total.Load(), p.Decisions.Load(), elapsed}
	fmt.Fprint(w, eraseLine+v.line(width))
}

// Above writes something else to the terminal. It removes the line, which is drawn again below.
func (p *Progress) Above(write func()) {
	p.line.Lock()
	defer p.line.Unlock()
	if p.out != nil {
		fmt.Fprint(p.out, eraseLine)
	}
	write()
}

// End removes the line. Only its first call has an effect.
func (p *Progress) End() {
	if p.out != nil {
		close(p.stop)
		p.done.Wait()
		p.out = nil
	}
}

func terminalWidth(f *os.File) int {
	if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
		return columns
	}
	return 80
}

// advance is the progress of a run.
type advance struct {
	bytes, total int64
	decisions    int64
	elapsed      time.Duration
}

const (
	longestBar  = 40
	shortestBar = 10
)

// line shows it in fewer characters than the width, so that no terminal wraps
// it: the percentage, and next to it what there is room for.
func (v advance) line(width int) string {
	if v.total <= 0 {
		return OneLine("looking for sessions…", max(width-1, 1))
	}
	text := fmt.Sprintf("%3.0f%%", 100*v.share())
	for _, more := range []string{v.remaining(), v.rate()} {
		if more != "" && len(text)+2+len(more) < width {
			text += "  " + more
		}
	}
	if room := min(width-1-len(text)-3, longestBar); room >= shortestBar {
		full := int(v.share() * float64(room))
		text = "[" + strings.Repeat("#", full) + strings.Repeat("-", room-full) + "] " + text
	}
	return OneLine(text, max(width-1, 1))
}

// share is the part that is done. Files can grow while they are read.
func (v advance) share() float64 {
	return min(max(float64(v.bytes)/float64(v.total), 0), 1)
}

// rate describes how many decisions are made in a second; nothing if that is not
// known yet.
func (v advance) rate() string {
	if v.decisions == 0 || v.elapsed < redraw {
		return ""
	}
	return Thousands(int64(float64(v.decisions)/v.elapsed.Seconds())) + " decisions/s"
}

// remaining describes how long the rest takes at the same rate; nothing while
// that is only a guess.
func (v advance) remaining() string {
	share := v.share()
	if share < 0.02 || v.elapsed < time.Second || share >= 1 {
		return ""
	}
	rest := time.Duration(float64(v.elapsed) * (1 - share) / share).Round(time.Second)
	if rest >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d left", rest/time.Hour, rest%time.Hour/time.Minute, rest%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d:%02d left", rest/time.Minute, rest%time.Minute/time.Second)
}
