package spark

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestMaster(t *testing.T) {
	for text, want := range map[string]string{
		"local": "local[1,4]", "local[2]": "local[2,4]", "local[*]": "local[*,4]", "spark://host:7077": "spark://host:7077", "yarn": "yarn",
		"k8s://https://10.0.0.1:6443": "k8s://https://10.0.0.1:6443", "spark://host": "", "local[x]": "", "mesos://h:1": "", "": "",
	} {
		got, known := Master(text)
		if known != (want != "") || known && got != want {
			t.Errorf("%s: %s, %t", text, got, known)
		}
	}
}

// The command lines for clusters that these tests do not have are compared with files.
func TestCommand(t *testing.T) {
	for name, j := range map[string]Job{
		"standalone": {Master: "spark://10.1.2.3:7077"},
		"yarn":       {Master: "yarn", Conf: []string{"spark.executor.instances=20", "spark.yarn.queue=batch"}},
		"kubernetes": {Master: "k8s://https://10.0.0.1:6443", Conf: []string{"spark.kubernetes.container.image=apache/spark-py:4.0.1", "spark.kubernetes.namespace=review", "spark.executor.instances=20"}},
	} {
		j.Submit, j.Dir = "/opt/spark/bin/spark-submit", "/tmp/job"
		got := strings.ReplaceAll(filepath.ToSlash(Shown(j.Command())), " --", " \\\n  --") + "\n"
		file := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || string(want) != got {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// fake is a job whose spark-submit is a shell script.
func fake(t *testing.T, script string) *Job {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake spark-submit is a shell script")
	}
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "spark-submit"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	submit, err := FindSubmit(home)
	if err != nil {
		t.Fatal(err)
	}
	return &Job{Master: "spark://127.0.0.1:1", Submit: submit, Dir: t.TempDir(), Wait: time.Minute}
}

func TestRun(t *testing.T) {
	j := fake(t, `echo '{"event":"started"}'
echo 'a line of Spark'
echo '{"event":"progress","done":1,"total":2}'
echo '{"event":"lost","shard":2,"why":"no room"}'
echo '{"event":"done","found":1,"lost":1,"cpu":1.5,"memory":2000}'
`)
	var done, total int64
	r, err := j.Run(t.Context(), func(d, n int64) { done, total = d, n })
	if err != nil || r.Found != 1 || len(r.Lost) != 1 || r.Lost[0] != (Lost{2, "no room"}) || r.CPU != 1500*time.Millisecond || r.Memory != 2000 || done != 1 || total != 2 {
		t.Errorf("%+v, %v; progress %d of %d", r, err, done, total)
	}
}

// What Spark logs is explained.
func TestRunFails(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"no master": {"echo 'ERROR StandaloneSchedulerBackend: All masters are unresponsive! Giving up.' >&2; exit 1", "the master does not answer"},
		"memory":    {"echo 'Executor memory 100m must be at least 471859200' >&2; exit 1", "too little memory for Spark"},
		"no java":   {"echo 'JAVA_HOME is not set' >&2; exit 1", "Spark needs Java 17"},
		"unknown":   {"echo 'something else' >&2; exit 3", "without a report (exit status 3):\nsomething else"},
		"no result": {"echo '{\"event\":\"started\"}'", "without a report"},
	} {
		_, err := fake(t, c.script).Run(t.Context(), func(_, _ int64) {})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A cluster that runs no task is given up, and its process ended.
func TestRunSilent(t *testing.T) {
	j := fake(t, "echo 'WARN TaskSchedulerImpl: Initial job has not accepted any resources' >&2; exec sleep 600")
	j.Wait = 200 * time.Millisecond
	_, err := j.Run(t.Context(), func(_, _ int64) {})
	if err == nil || !strings.Contains(err.Error(), "the cluster never answered within 200ms: no worker has room for a task") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Run(ctx, func(_, _ int64) {}); err == nil {
		t.Error("a job runs that was interrupted before")
	}
}

func TestFindSubmit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := FindSubmit(""); err == nil || !strings.Contains(err.Error(), "pip install pyspark") {
		t.Errorf("not in the PATH: %v", err)
	}
	if _, err := FindSubmit(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no bin/spark-submit") {
		t.Errorf("another folder: %v", err)
	}
}

// The archive contains the program, which can be started, and everything next to it.
func TestPrepare(t *testing.T) {
	j := fake(t, "")
	j.Inputs, j.Program, j.Shards = filepath.Join(j.Dir, "inputs"), filepath.Join(t.TempDir(), "any"), 3
	for name, text := range map[string]string{j.Program: "program", filepath.Join(j.Inputs, "home", "policies", "p"): "policy"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Prepare(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(j.Dir, "inputs.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = h.Mode & 0o100
	}
	if len(got) != 2 || got["reviewer"] == 0 || got["home/policies/p"] != 0 {
		t.Errorf("the archive has %v", got)
	}
}
