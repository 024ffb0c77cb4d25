package simulatecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/agent-reviewer/reviewer/bundles/active"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/impact"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/spark"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
	"github.com/spf13/cobra"
)

// cluster is the flags of a run on Spark.
type cluster struct {
	on, home, program string
	shards            int
	conf              []string
	wait              time.Duration
	print             bool
}

func (c *cluster) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.on, "on", "", "run on this Spark `CLUSTER`: spark://HOST:7077, local[N], yarn or k8s://URL")
	f.StringVar(&c.home, "spark-home", "", "`FOLDER` with bin/spark-submit (default: the one in the PATH)")
	f.StringArrayVar(&c.conf, "spark-conf", nil, "a setting of Spark (`KEY=VALUE`), such as spark.executor.memory=1g; may be repeated")
	f.DurationVar(&c.wait, "spark-wait", 10*time.Minute, "how long to wait for the first task to begin")
	f.BoolVar(&c.print, "spark-print", false, "print the command line of spark-submit, and run nothing")
	f.IntVar(&c.shards, "shards", 0, "number of tasks on the cluster (default: one for each group of objects, at most 512)")
	f.StringVar(&c.program, "program", "",
		"the reviewer binary (`FILE`) to run on the cluster, if the workers have another architecture or system")
}

// check refuses what cannot be combined.
func (c *cluster) check(s *simulation, args []string) error {
	if c.on == "" {
		for _, flag := range []string{"spark-home", "spark-conf", "spark-wait", "spark-print", "shards", "program"} {
			if s.given(flag) {
				return cli.Usage("--%s needs --on CLUSTER", flag)
			}
		}
		return nil
	}
	master, known := spark.Master(c.on)
	switch {
	case !known:
		return cli.Usage("--on %s: expected spark://HOST:7077, local[N], yarn or k8s://URL", c.on)
	case s.shard != "":
		return cli.Usage("--on and --shard: the cluster makes the shards; leave out --shard")
	case s.saveCases != "":
		return cli.Usage("--on and --save-cases: cases are written where the sessions are read; run without --on, or with --session")
	case s.grants != "":
		return cli.Usage("--on and --grants: sessions are read in order for --grants; run without --on")
	case slices.Contains(args, "-"):
		return cli.Usage("--on and -: the workers cannot read this standard input; name files or objects")
	case c.shards < 0 || c.shards > maxShards:
		return cli.Usage("--shards %d: expected 1 to %d tasks", c.shards, maxShards)
	}
	for _, one := range c.conf {
		if key, _, ok := strings.Cut(one, "="); !ok || key == "" {
			return cli.Usage("--spark-conf %s: expected KEY=VALUE, such as spark.executor.memory=1g", one)
		}
	}
	c.on = master
	return nil
}

// onCluster runs the comparison on a cluster, and writes the same report.
func onCluster(ctx context.Context, a *cli.App, s *simulation, p *term.Progress) error {
	dir, err := os.MkdirTemp("", "reviewer-spark-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	job, err := s.job(ctx, a, dir)
	if err == nil && s.cluster.print {
		p.End()
		fmt.Fprintln(a.Stdout, spark.Shown(job.Command()))
		return nil
	}
	if err == nil {
		err = job.Prepare()
	}
	var result *spark.Result
	if err == nil {
		result, err = job.Run(ctx, func(done, total int64) { p.Bytes.Store(done); p.Total.Store(total) })
	}
	p.End()
	if err == nil {
		err = tellLost(a, result)
	}
	if err != nil {
		return writeFailed(a, &s.out, "policy simulate", err)
	}
	if s.verbose {
		fmt.Fprintf(a.Stderr, "reviewer: %s took %s of processor time; the largest process had %d MB of memory\n",
			term.Counted(job.Shards, "task", "tasks"), result.CPU.Round(100*time.Millisecond), result.Memory/1e6)
	}
	return s.fetched(ctx, a, job.Report())
}

// tellLost names the shards without a report.
func tellLost(a *cli.App, r *spark.Result) error {
	for _, l := range r.Lost[:min(len(r.Lost), maxTold)] {
		fmt.Fprintf(a.Stderr, "reviewer: shard %d: %s\n", l.Shard, cli.Masked(l.Why))
	}
	if r.Found > 0 {
		return nil
	}
	if len(r.Lost) == 0 {
		return errors.New("no shard produced a report")
	}
	return fmt.Errorf("no shard produced a report: %s", r.Lost[0].Why)
}

// fetched writes the report of the cluster in every format.
func (s *simulation) fetched(ctx context.Context, a *cli.App, report string) error {
	d, err := readImpact(ctx, a, report, s.inputs.store)
	if err != nil {
		return writeFailed(a, &s.out, "policy simulate", fmt.Errorf("the report of the cluster: %w", err))
	}
	sums := impactsOf(d)
	if err := writeDocument(a, &s.out, d, impact.Options{Verbose: s.verbose, Show: s.show, Exceeded: over(s.budgets, sums[0])}); err != nil {
		return err
	}
	return verdictOf(a, s.budgets, sums)
}

func impactsOf(d impact.Document) []*simulate.Impact {
	if d.Sweep == nil {
		return []*simulate.Impact{d.Impact}
	}
	var sums []*simulate.Impact
	for _, row := range d.Sweep.Rows {
		sums = append(sums, row.Impact)
	}
	return sums
}

// job packs what the tasks need: manifest, policies and flags.
func (s *simulation) job(ctx context.Context, a *cli.App, dir string) (*spark.Job, error) {
	submit, err := spark.FindSubmit(s.cluster.home)
	if err != nil {
		return nil, err
	}
	in := filepath.Join(dir, "inputs")
	if err := os.MkdirAll(in, 0o700); err != nil {
		return nil, err
	}
	j := &spark.Job{Master: s.cluster.on, Submit: submit, Inputs: in, Dir: dir, Conf: s.cluster.conf, Wait: s.cluster.wait}
	if j.Program, j.Machines, err = s.cluster.programToShip(); err != nil {
		return nil, err
	}
	groups, err := s.shipManifest(ctx, filepath.Join(in, "manifest.json"))
	if err != nil {
		return nil, err
	}
	j.Shards = s.cluster.shards
	if j.Shards == 0 {
		j.Shards = min(groups, 512)
	}
	j.Args, err = s.shipPolicies(ctx, a, filepath.Join(in, "home"))
	return j, err
}

// programToShip is the program for the workers, and the names of its architecture.
func (c *cluster) programToShip() (string, []string, error) {
	if c.program != "" {
		_, err := os.Stat(c.program)
		return c.program, []string{"x86_64", "aarch64", "arm64", "amd64"}, err // the worker's system refuses a wrong one
	}
	if runtime.GOOS != "linux" {
		return "", nil, cli.Usage("--on: this program is for %s, and workers are Linux machines; give a build for them with --program",
			runtime.GOOS)
	}
	names := map[string][]string{"amd64": {"x86_64"}, "arm64": {"aarch64", "arm64"}}[runtime.GOARCH]
	path, err := os.Executable()
	return path, names, err
}

// shipManifest writes the manifest, and returns the number of groups.
func (s *simulation) shipManifest(ctx context.Context, name string) (int, error) {
	list, lost := s.inputs.listed, []string(nil)
	var err error
	if list == nil {
		if list, lost, err = s.inputs.find(ctx, s.args); err != nil {
			return 0, err
		}
	}
	m, err := s.inputs.store.NewManifest(ctx, list)
	if err != nil {
		return 0, errors.Join(err, errors.New(strings.Join(lost, "; ")))
	}
	if s.inputs.listed == nil {
		s.inputs.listed, s.inputs.places = list, filesOf(list)
	}
	return countGroups(list), os.WriteFile(name, m.Bytes(), 0o600)
}

func countGroups(list []objects.Input) int {
	groups := map[int]bool{}
	for _, in := range list {
		groups[in.Group] = true
	}
	return len(groups)
}

// shipPolicies stores both policies and those that recorded decisions name, and returns
// the flags of the tasks.
func (s *simulation) shipPolicies(ctx context.Context, a *cli.App, home string) ([]string, error) {
	store := active.KeptIn(home)
	args := []string{"policy", "simulate", "--home", "home", "--manifest", "manifest.json", "-p", "1"}
	for _, side := range []struct{ flag, ref, name string }{
		{"baseline", s.baseline, s.baselineName}, {"candidate", s.candidate, s.candidateName},
	} {
		ref := side.ref
		if ref != active.RefRecorded {
			e, err := a.PolicyRef(ctx, ref)
			if err == nil {
				err = store.Put(e)
			}
			if err != nil {
				return nil, fmt.Errorf("--%s: %w", side.flag, err)
			}
			ref = e.Digest
		}
		args = append(args, "--"+side.flag, ref, "--"+side.flag+"-name", cmp.Or(side.name, side.ref))
	}
	kept, err := a.FormerPolicies(s.inputs.homes(s.args))
	if err != nil {
		return nil, err
	}
	for _, from := range kept.Homes {
		if err := copyPolicies(active.KeptIn(from).Dir, store.Dir); err != nil {
			return nil, err
		}
	}
	return append(args, s.selectionFlags()...), nil
}

// copyPolicies copies stored policies that are not there yet.
func copyPolicies(from, to string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		target := filepath.Join(to, e.Name())
		if _, err := os.Stat(target); err == nil {
			continue
		}
		if e.IsDir() {
			err = os.CopyFS(target, os.DirFS(filepath.Join(from, e.Name())))
		} else {
			var text []byte
			if text, err = os.ReadFile(filepath.Join(from, e.Name())); err == nil {
				err = os.WriteFile(target, text, 0o600)
			}
		}
		if err != nil {
			return err
		}
	}
	return err
}

// selectionFlags returns the flags that select sessions and calls. An age is converted
// to the time that it means now.
func (s *simulation) selectionFlags() []string {
	var args []string
	add := func(flag string, values ...string) {
		for _, v := range values {
			if v != "" {
				args = append(args, "--"+flag, v)
			}
		}
	}
	if s.selection.Since != 0 {
		add("since", time.UnixMilli(s.selection.Since).UTC().Format(time.RFC3339Nano))
	}
	add("session", s.sessions...)
	add("tool", s.tools...)
	if s.selection.Until > 0 {
		add("until", time.UnixMilli(s.selection.Until).UTC().Format(time.RFC3339Nano))
	}
	add("workspace", s.selection.Workspaces...)
	add("user", s.users...)
	add("agent", s.agents...)
	add("rule", s.rules...)
	add("answer", s.answers...)
	add("sample", s.sample)
	add("sweep", s.sweeps...)
	if s.noFidelity {
		args = append(args, "--no-fidelity")
	}
	return args
}
