//go:build e2e && linux

package engines

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// cluster is a Spark master and two workers on loopback.
type cluster struct {
	home, master string
	workers      []*os.Process
}

func spark(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{home: os.Getenv("SPARK_HOME"), master: "spark://127.0.0.1:17077"}
	if c.home == "" {
		t.Fatal("set SPARK_HOME to the folder of Spark, or that of the package pyspark")
	}
	class := filepath.Join(c.home, "bin", "spark-class")
	env := []string{"SPARK_LOCAL_IP=127.0.0.1"}
	_, log := daemon(t, env, class, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "17077", "--webui-port", "0")
	until(t, "the master", func() bool { return logged(log, "Starting Spark master at") > 0 })
	for range 2 {
		p, _ := daemon(t, env, class, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
			"--cores", "1", "--memory", "1g", "--work-dir", t.TempDir(), c.master)
		c.workers = append(c.workers, p)
	}
	until(t, "two workers", func() bool { return logged(log, "Registering worker") == 2 })
	return c
}

// children lists the processes that a process started and that have a string in their
// command line.
func children(parent int, text string) (list []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		stat, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) && strings.Contains(string(line), text) {
			list = append(list, pid)
		}
	}
	return list
}

// working reports whether a process below an executor runs the program.
func working(pid, depth int) bool {
	if len(children(pid, "--shard")) > 0 {
		return true
	}
	for _, child := range children(pid, "") {
		if depth > 0 && working(child, depth-1) {
			return true
		}
	}
	return false
}

// A simulation on a Spark cluster of which an executor is killed while it works: the
// report is that of the plain command.
func TestSparkExecutorKilled(t *testing.T) {
	c := spark(t)
	killed := make(chan string, 1)
	go func() {
		for t.Context().Err() == nil {
			for _, pid := range children(c.workers[0].Pid, "CoarseGrainedExecutorBackend") {
				if working(pid, 3) {
					killed <- fmt.Sprintf("killed executor %d: %v", pid, syscall.Kill(pid, syscall.SIGKILL))
					return
				}
			}
		}
	}()
	report := filepath.Join(t.TempDir(), "spark.json")
	reviewer(t, 0, "policy", "simulate", "--manifest", shared.manifest, "--candidate", shared.policy, "--on", c.master,
		"--spark-home", c.home, "--spark-conf", "spark.executor.memory=600m", "--spark-conf", "spark.driver.host=127.0.0.1",
		"--spark-conf", "spark.driver.bindAddress=127.0.0.1", "--shards", "7", "-f", "json", "-o", report)
	select {
	case text := <-killed:
		t.Log(text)
	default:
		t.Fatal("no executor was killed")
	}
	same(t, report)
}

// Two workers take about as long as two plain processes, and the tasks as much processor time
// and memory; the numbers are printed, since other work on the machine changes them.
func TestSparkCost(t *testing.T) {
	c := spark(t)
	onCluster := func(manifest string) (time.Duration, string) {
		began := time.Now()
		errs := reviewer(t, 0, "policy", "simulate", "--manifest", manifest, "--candidate", shared.policy, "--on", c.master, "--verbose",
			"--spark-home", c.home, "--spark-conf", "spark.executor.memory=600m", "--spark-conf", "spark.driver.host=127.0.0.1",
			"--spark-conf", "spark.driver.bindAddress=127.0.0.1", "--shards", "2", "-f", "json", "-o", filepath.Join(t.TempDir(), "report.json"))
		return time.Since(began), errs
	}
	files, err := filepath.Glob(filepath.Join(shared.archive, "*", "*"))
	if err != nil || len(files) < 2 {
		t.Fatal("no archive", err)
	}
	small := filepath.Join(t.TempDir(), "small.json")
	reviewer(t, 0, "policy", "simulate", "manifest", files[0], files[1], "-o", small)
	start, _ := onCluster(small)
	whole, errs := onCluster(shared.manifest)
	used := regexp.MustCompile(`2 tasks took (\S+) of processor time; the largest process had (\d+) MB`).FindStringSubmatch(errs)
	if used == nil {
		t.Fatalf("no usage in: %s", errs)
	}
	inTasks, err := time.ParseDuration(used[1])
	if err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	var cpu [2]time.Duration
	began := time.Now()
	for i := range cpu {
		both.Go(func() {
			cmd := exec.CommandContext(t.Context(), shared.program, "policy", "simulate", "--manifest", shared.manifest, "--candidate", shared.policy,
				"--shard", fmt.Sprint(i+1, "/2"), "-f", "json", "-o", filepath.Join(t.TempDir(), "part.json"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			cpu[i] = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		})
	}
	both.Wait()
	plain := time.Since(began)
	t.Logf("two workers %s, of which start %s; two plain processes %s: ratio %.2f", whole, start, plain, (whole-start).Seconds()/plain.Seconds())
	t.Logf("processor time of the tasks %s, of the plain processes %s: ratio %.2f", inTasks, cpu[0]+cpu[1], inTasks.Seconds()/(cpu[0]+cpu[1]).Seconds())
	t.Logf("memory of the largest process of a task %s MB", used[2])
	if mb, err := strconv.Atoi(used[2]); err != nil || mb > 300 {
		t.Errorf("a task took %s MB, more than 300", used[2])
	}
}

// Workers that cannot run the program say why, after the last attempt.
func TestSparkWorkers(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "arm64")
	t.Setenv("GOARCH", map[string]string{"amd64": "arm64", "arm64": "amd64"}[runtime.GOARCH])
	if err := run(root, "go", "build", "-C", "cmd/dev", "-o", other, "./archive"); err != nil {
		t.Fatal(err)
	}
	os.Unsetenv("GOARCH")
	// The dynamic linker that it names does not exist.
	system, err := os.ReadFile("/bin/true")
	linked := regexp.MustCompile(`/lib(64)?/ld-linux[^\x00]*`).ReplaceAllFunc(system, func(p []byte) []byte { return append([]byte("/x"), p[2:]...) })
	if err != nil || bytes.Equal(linked, system) {
		t.Fatal("no linker named in /bin/true", err)
	}
	unlinked := filepath.Join(dir, "unlinked")
	if err := os.WriteFile(unlinked, linked, 0o755); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{other: "the program is for another architecture than this worker", unlinked: "the program needs libraries that this worker does not have"} {
		errs := reviewer(t, 1, "policy", "simulate", "--manifest", shared.manifest, "--candidate", shared.policy, "--on", "local[1]",
			"--spark-home", os.Getenv("SPARK_HOME"), "--spark-conf", "spark.driver.host=127.0.0.1", "--program", program, "--shards", "1")
		if !strings.Contains(errs, "no shard produced a report: "+want) {
			t.Errorf("%s: %s", filepath.Base(program), errs)
		}
	}
}

// A worker with little memory is not overloaded.
func TestSparkMemory(t *testing.T) {
	job, err := filepath.Abs(filepath.Join(root, "cmd", "reviewer", "spark"))
	if err != nil {
		t.Fatal(err)
	}
	text := "import os, job\nspec = {'machines': [os.uname().machine]}\njob.check(spec)\njob.free_memory = lambda: 100 << 20\njob.check(spec)\n"
	cmd := exec.CommandContext(t.Context(), os.Getenv("PYSPARK_PYTHON"), "-c", text)
	cmd.Dir = job
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "too little memory: 100 MiB are free on this worker, and a task may need 300 MiB") {
		t.Errorf("%v: %s", err, out)
	}
}

// A master that does not answer is reported.
func TestSparkNoMaster(t *testing.T) {
	home := os.Getenv("SPARK_HOME")
	errs := reviewer(t, 1, "policy", "simulate", "--manifest", shared.manifest, "--candidate", shared.policy, "--on", "spark://127.0.0.1:9",
		"--spark-home", home, "--spark-conf", "spark.driver.host=127.0.0.1", "--spark-wait", "10m")
	if !strings.Contains(errs, "the master does not answer") {
		t.Errorf("%s", errs)
	}
}
