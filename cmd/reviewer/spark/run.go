package spark

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Lost is a shard without a report.
type Lost struct {
	Shard int
	Why   string
}

// Result is what a run left behind.
type Result struct {
	Found  int // parts of the report
	Lost   []Lost
	CPU    time.Duration // processor time of the program in all tasks that delivered a part
	Memory int64         // of the largest process, in bytes
}

// event is a line that the PySpark job prints.
type event struct {
	Event  string  `json:"event"` // connected, started, progress, lost, done
	Done   int64   `json:"done"`
	Total  int64   `json:"total"`
	Shard  int     `json:"shard"`
	Why    string  `json:"why"`
	Found  int     `json:"found"`
	CPU    float64 `json:"cpu"` // seconds
	Memory int64   `json:"memory"`
}

// errSilent is the cause of ending a run on a cluster that runs no task.
var errSilent = errors.New("the cluster never answered")

// Run runs the job. progress is called with the tasks that have ended, and all.
func (j *Job) Run(ctx context.Context, progress func(done, total int64)) (*Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	command := j.Command()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return interrupt(cmd) }
	cmd.WaitDelay = 20 * time.Second // for Spark to release its workers
	separate(cmd)
	var log tail
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start spark-submit: %w", err)
	}
	late := time.AfterFunc(j.Wait, func() { stop(errSilent) })
	defer late.Stop()
	result, ended := follow(out, late, progress)
	err = cmd.Wait()
	if err == nil && ended {
		return result, nil
	}
	return result, j.explain(context.Cause(ctx), err, log.String())
}

// follow reads the events of a job.
func follow(out io.Reader, late *time.Timer, progress func(done, total int64)) (r *Result, ended bool) {
	r = &Result{}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // of Spark
		}
		switch e.Event {
		case "started":
			late.Stop()
		case "progress":
			late.Stop()
			progress(e.Done, e.Total)
		case "lost":
			r.Lost = append(r.Lost, Lost{e.Shard, e.Why})
		case "done":
			r.Found, r.CPU, r.Memory, ended = e.Found, time.Duration(e.CPU*float64(time.Second)), e.Memory, true
		}
	}
	_, _ = io.Copy(io.Discard, out) // a line that is too long must not block Spark
	return r, ended
}

// tail keeps the end of a log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 64 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - maxTail; extra > 0 {
		t.text = bytes.Clone(t.text[extra:])
	}
	return len(p), nil
}

// String returns what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// hint explains what Spark logs.
type hint struct{ logged, says string }

func hints() []hint {
	return []hint{
		{"All masters are unresponsive", "the master does not answer; check the address, and that the master and its workers run"},
		{"Initial job has not accepted any resources", "no worker has room for a task: start workers, or ask for less with --spark-conf spark.executor.memory=1g and spark.executor.cores=1"},
		{"must be at least", "too little memory for Spark: give at least 512m with --spark-conf spark.executor.memory=1g or spark.driver.memory=1g"},
		{"is above the cluster's max", "too little memory in the cluster: ask for less with --spark-conf spark.executor.memory=1g"},
		{"OutOfMemoryError", "too little memory for Spark: raise it with --spark-conf spark.driver.memory=2g"},
		{"JAVA_HOME is not set", "Spark needs Java 17; install it, or set JAVA_HOME"},
		{"java: command not found", "Spark needs Java 17; install it, or set JAVA_HOME"},
		{"UnsupportedClassVersionError", "Spark needs a newer Java; install Java 17, or set JAVA_HOME"},
		{"No such file or directory: 'python", "there is no Python on a worker; name one with --spark-conf spark.pyspark.python=/usr/bin/python3"},
		{"different minor versions", "Python here and on the workers have different versions; name one with --spark-conf spark.pyspark.python=PATH"},
		{"UnknownHostException", "the name of the master cannot be resolved; check --on"},
		{"HADOOP_CONF_DIR or YARN_CONF_DIR", "for --on yarn, set HADOOP_CONF_DIR to the configuration of the cluster"},
	}
}

// explain returns why a run ended without a report.
func (j *Job) explain(cause, err error, log string) error {
	var why string
	for _, h := range hints() {
		if strings.Contains(log, h.logged) {
			why = h.says
			break
		}
	}
	switch {
	case errors.Is(cause, errSilent) && why != "":
		return fmt.Errorf("--on %s: %w within %s: %s", j.Master, errSilent, j.Wait, why)
	case errors.Is(cause, errSilent):
		return fmt.Errorf("--on %s: %w within %s; check that it runs and has room, or wait longer with --spark-wait", j.Master, errSilent, j.Wait)
	case cause != nil:
		return errors.New("interrupted; Spark was told to end the job")
	case why != "":
		return fmt.Errorf("--on %s: %s", j.Master, why)
	}
	return fmt.Errorf("--on %s: spark-submit ended without a report (%v):\n%s", j.Master, err, lastLines(log, 12))
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
