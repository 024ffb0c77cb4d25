package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// checkLog reads every line of the log: each answered call occurs once.
func (s *soak) checkLog() error {
	files, err := filepath.Glob(filepath.Join(s.home, "sessions", "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		return errors.Join(errors.New("there is no log"), err)
	}
	seen, lines := map[string]int{}, 0
	for _, name := range files {
		n, err := countCalls(name, seen)
		if err != nil {
			return err
		}
		lines += n
	}
	lost, doubled, strange := 0, 0, 0
	s.answered.Range(func(id, _ any) bool {
		if seen[id.(string)] == 0 {
			lost++
		}
		return true
	})
	for id, n := range seen {
		if n > 1 {
			doubled++
		}
		if _, made := s.made.Load(id); !made {
			strange++
		}
	}
	fmt.Printf("log: %d files, %d lines, %d calls; lost %d, doubled %d, unknown %d\n", len(files), lines, len(seen), lost, doubled, strange)
	if lost+doubled+strange > 0 {
		return errors.New("the log does not contain every answered call exactly once")
	}
	return nil
}

// countCalls counts the decided calls of a file. A line that is not JSON is torn.
func countCalls(name string, seen map[string]int) (lines int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var r struct{ Kind, Session, Call string }
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return 0, fmt.Errorf("%s: line %d is incomplete: %w", name, lines+1, err)
		}
		if lines++; r.Kind == "pre" {
			seen[r.Session+"/"+r.Call]++
		}
	}
	return lines, in.Err()
}

// check runs a command of reviewer audit.
func (s *soak) check(what string) error {
	cmd := exec.Command(filepath.Join(s.bin, "reviewer"), "audit", what, "--home", s.home)
	out, err := cmd.CombinedOutput()
	text := bytes.TrimSpace(out)
	last := text[bytes.LastIndexByte(text, '\n')+1:]
	fmt.Printf("audit %s: %.200s\n", what, last)
	if err != nil {
		return fmt.Errorf("audit %s: %w\n%.2000s", what, err, out)
	}
	return nil
}

// watchMemory measures the resident process while no process is killed, and returns what shows
// whether it has grown.
func (s *soak) watchMemory() func() error {
	done, ended := make(chan struct{}), make(chan struct{})
	var samples []int
	go func() {
		defer close(ended)
		for pause(done, max(s.time/100, 100*time.Millisecond)) {
			if n := residentMemory(int(s.pid.Load())); n > 0 && s.calm.Load() {
				samples = append(samples, n)
			}
		}
	}()
	return func() error {
		close(done)
		<-ended
		if len(samples) < 8 {
			return fmt.Errorf("only %d measurements of memory: run it for longer", len(samples))
		}
		early, late := highest(samples[len(samples)/4:len(samples)/2]), highest(samples[len(samples)*3/4:])
		fmt.Printf("memory: %d MB early in the quiet part, %d MB at its end\n", early>>10, late>>10)
		if late > early*3/2+32<<10 {
			return errors.New("the resident process grows")
		}
		return nil
	}
}

func highest(list []int) (most int) {
	for _, n := range list {
		most = max(most, n)
	}
	return most
}

// residentMemory is the memory of a process in KiB; 0 if there is none.
func residentMemory(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	n, _ := strconv.Atoi(strings.TrimSpace(strings.SplitN(rest, " kB", 2)[0])) // 0 if there is none
	return n
}
