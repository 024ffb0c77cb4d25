//go:build e2e && linux

package engines

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
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

// A master that does not answer is reported.
func TestSparkNoMaster(t *testing.T) {
	home := os.Getenv("SPARK_HOME")
	errs := reviewer(t, 1, "policy", "simulate", "--manifest", shared.manifest, "--candidate", shared.policy, "--on", "spark://127.0.0.1:9",
		"--spark-home", home, "--spark-conf", "spark.driver.host=127.0.0.1", "--spark-wait", "10m")
	if !strings.Contains(errs, "the master does not answer") {
		t.Errorf("%s", errs)
	}
}
