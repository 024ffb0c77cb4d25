//go:build e2e && linux

package engines

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// slurm starts a controller and one node, and returns the environment of its commands.
func slurm(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"state", "spool", "munge"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	socket, key := filepath.Join(dir, "munge", "socket"), filepath.Join(dir, "munge", "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("a key for a test only, ", 64)), 0o400); err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "slurm.conf")
	text := fmt.Sprintf(`ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=%[2]s
SlurmUser=root
SlurmdUser=root
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
MpiDefault=none
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=2 RealMemory=2000
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`, host, socket, dir)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"SLURM_CONF=" + conf}
	daemon(t, nil, "munged", "--foreground", "--force", "--key-file="+key, "--socket="+socket,
		"--pid-file="+filepath.Join(dir, "munged.pid"), "--seed-file="+filepath.Join(dir, "seed"), "--log-file="+filepath.Join(dir, "munged.log"))
	until(t, "munged", func() bool { _, err := os.Stat(socket); return err == nil })
	_, controller := daemon(t, env, "slurmctld", "-D", "-f", conf)
	_, node := daemon(t, env, "slurmd", "-D", "-f", conf)
	until(t, "an idle node", func() bool {
		cmd := exec.Command("sinfo", "-h", "-o", "%T")
		cmd.Env = append(os.Environ(), env...)
		out, _ := cmd.Output()
		return strings.Contains(string(out), "idle")
	})
	t.Cleanup(func() {
		if t.Failed() {
			for _, name := range []string{controller, node} {
				text, _ := os.ReadFile(name)
				t.Logf("%s", text[max(0, len(text)-3000):])
			}
		}
	})
	return env
}

// A simulation as a Slurm array, with the scripts of the documentation: a task fails, is
// submitted again alone, and the merged report is that of the plain command.
func TestSlurm(t *testing.T) {
	env := slurm(t)
	dir := t.TempDir()
	scripts, err := filepath.Abs(filepath.Join(root, "docs", "batch"))
	if err != nil {
		t.Fatal(err)
	}
	// The program fails in task 3 until it is submitted again.
	failing := filepath.Join(dir, "reviewer")
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$SLURM_ARRAY_TASK_ID\" = 3 ] && [ ! -e %[1]s/again ]; then echo 'the node broke' >&2; exit 9; fi\nexec %[2]s \"$@\"\n",
		dir, shared.program)
	if err := os.WriteFile(failing, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	env = append(env, "N=7", "REVIEWER="+failing, "MANIFEST="+shared.manifest, "CANDIDATE="+shared.policy)
	sbatch := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "sbatch", append([]string{"--wait", "--mem=0", "--chdir=" + dir}, args...)...)
		cmd.Env, cmd.Dir = append(os.Environ(), env...), dir
		out, err := cmd.CombinedOutput()
		t.Logf("sbatch %s: %s", strings.Join(args, " "), strings.TrimSpace(string(out)))
		return string(out), err
	}
	if out, err := sbatch("--array=0-6", filepath.Join(scripts, "slurm-shard.sh")); err == nil {
		t.Fatalf("the array has a task that fails, and succeeds: %s", out)
	}
	if parts, err := filepath.Glob(filepath.Join(dir, "parts", "*.json")); err != nil || len(parts) != 6 {
		t.Fatalf("parts %v, %v; want all but that of task 3", parts, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "again"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := sbatch("--array=3", filepath.Join(scripts, "slurm-shard.sh")); err != nil {
		t.Fatalf("submitted again: %v, %s", err, out)
	}
	if out, err := sbatch(filepath.Join(scripts, "slurm-merge.sh")); err != nil {
		t.Fatalf("merge: %v, %s", err, out)
	}
	same(t, filepath.Join(dir, "report.json"))
}
