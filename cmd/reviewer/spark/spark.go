// Package spark runs a job on Apache Spark: it packs a program with its inputs, starts
// spark-submit with a small PySpark job, and fetches the result.
//
// Out of scope: what the program does in a task, and the contents of its reports. Spark
// schedules and retries; this package does neither.
package spark

import (
	"archive/tar"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

//go:embed job.py
var jobSource []byte

// Job is one run of a program on a cluster.
type Job struct {
	Master   string   // spark://HOST:PORT, local[N], yarn or k8s://…
	Submit   string   // path of spark-submit
	Program  string   // it runs in the tasks
	Machines []string // names of the program's architecture, as uname has them
	Inputs   string   // folder that is shipped with it
	Args     []string // of the program in each task; paths are relative to the folder
	Shards   int
	Conf     []string      // KEY=VALUE, for --conf
	Wait     time.Duration // until the first task has begun
	Dir      string        // for files of this run
}

// attempts is how often a task is tried.
const attempts = 4

// Master reports whether a string names a cluster that spark-submit knows, and returns it
// as spark-submit needs it: a local one retries only if the number of attempts is given.
func Master(text string) (string, bool) {
	local := regexp.MustCompile(`^local(\[([0-9]+|\*)\])?$`)
	if m := local.FindStringSubmatch(text); m != nil {
		threads := m[2]
		if threads == "" {
			threads = "1"
		}
		return fmt.Sprintf("local[%s,%d]", threads, attempts), true
	}
	known := regexp.MustCompile(`^(spark://[^/ ]+:[0-9]+|yarn|k8s://.+)$`).MatchString(text)
	return text, known
}

// FindSubmit finds spark-submit: under a folder, or in the PATH.
func FindSubmit(home string) (string, error) {
	if home != "" {
		path := filepath.Join(home, "bin", "spark-submit")
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return "", fmt.Errorf("there is no bin/spark-submit in %s; give the folder that Spark was unpacked to, or that of pyspark", home)
		}
		return path, nil
	}
	path, err := exec.LookPath("spark-submit")
	if err != nil {
		return "", errors.New("spark-submit is not in the PATH; install Spark (for example `pip install pyspark`, which needs Java 17), " +
			"or name its folder with --spark-home")
	}
	return path, nil
}

// Command is the command line of spark-submit.
func (j *Job) Command() []string {
	list := []string{j.Submit, "--master", j.Master, "--deploy-mode", "client", "--name", "reviewer policy simulate",
		"--files", j.file("inputs.tar.gz")}
	conf := []string{fmt.Sprint("spark.task.maxFailures=", attempts), "spark.ui.enabled=false", "spark.ui.showConsoleProgress=false"}
	for _, c := range append(conf, j.Conf...) {
		list = append(list, "--conf", c)
	}
	return append(list, j.file("job.py"), j.file("job.json"))
}

func (j *Job) file(name string) string { return filepath.Join(j.Dir, name) }

// Report is the file with the report.
func (j *Job) Report() string { return j.file("report.json") }

// spec is what the PySpark job reads.
type spec struct {
	ID       string   `json:"id"`
	Archive  string   `json:"archive"`
	Here     string   `json:"here"` // folder with the program, on this machine
	Machines []string `json:"machines"`
	Args     []string `json:"args"`
	Shards   int      `json:"shards"`
	Attempts int      `json:"attempts"`
	Output   string   `json:"output"`
}

// Prepare writes the files of the job: its source, what it reads, and the archive that is
// shipped.
func (j *Job) Prepare() error {
	text, err := json.MarshalIndent(spec{
		ID: filepath.Base(j.Dir), Archive: "inputs.tar.gz", Here: j.Inputs, Machines: j.Machines, Args: j.Args, Shards: j.Shards,
		Attempts: attempts, Output: j.Report(),
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := copyProgram(j.Program, filepath.Join(j.Inputs, "reviewer")); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(j.file("job.py"), jobSource, 0o600),
		os.WriteFile(j.file("job.json"), text, 0o600),
		pack(j.Inputs, j.file("inputs.tar.gz")),
	)
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// pack writes an archive of a folder.
func pack(folder, name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return packFile(t, folder, path)
	})
	return errors.Join(err, t.Close(), z.Close(), f.Close())
}

func packFile(t *tar.Writer, folder, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		return err
	}
	h := &tar.Header{Name: filepath.ToSlash(rel), Mode: int64(info.Mode().Perm()), Size: info.Size(), Typeflag: tar.TypeReg}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(t, f)
	return err
}

// Shown is a command line as a shell reads it.
func Shown(command []string) string {
	var words []string
	for _, w := range command {
		quoted, err := syntax.Quote(w, syntax.LangBash)
		if err != nil {
			quoted = "''" // it contains a byte 0, with which no program can be started
		}
		words = append(words, quoted)
	}
	return strings.Join(words, " ")
}
