package simulatecmd

import (
	"strings"
	"testing"
)

// What --shard makes of the environment of a task; KEY=VALUE separated by spaces.
func TestShardOf(t *testing.T) {
	for _, c := range []struct{ shard, env, want string }{
		{"2/7", "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=7", "2/7"},
		{"auto", "JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=7", "1/7"},
		{"auto/7", "JOB_COMPLETION_INDEX=6", "7/7"},
		{"auto", "SLURM_ARRAY_TASK_ID=6 SLURM_ARRAY_TASK_COUNT=7 SLURM_ARRAY_TASK_MIN=0", "7/7"},
		{"auto/7", "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=3", "4/7"},
		{"auto/64", "AWS_BATCH_JOB_ARRAY_INDEX=63", "64/64"},

		{"auto", "", "this process is not a task of an array"},
		{"auto", "JOB_COMPLETION_INDEX=0", "Kubernetes does not specify the number of tasks; give --shard auto/n"},
		{"auto", "AWS_BATCH_JOB_ARRAY_INDEX=1", "AWS Batch does not specify the number of tasks"},
		{"auto", "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=3", "the array begins with task 3, so it may be a part of another one"},
		{"auto/7", "SLURM_ARRAY_TASK_ID=7", "number the tasks from 0 to 6"},
		{"auto/7", "JOB_COMPLETION_INDEX=1 SLURM_ARRAY_TASK_ID=1", "both SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX are set"},
		{"auto/7", "JOB_COMPLETION_INDEX=one", `"one" is not a number`},
		{"auto/0", "JOB_COMPLETION_INDEX=0", "expected 1 to 10000 tasks"},
		{"auto/x", "JOB_COMPLETION_INDEX=0", "expected auto/n"},
		{"automatic", "JOB_COMPLETION_INDEX=0", "expected i/n"},
	} {
		env := map[string]string{}
		for _, one := range strings.Fields(c.env) {
			key, value, _ := strings.Cut(one, "=")
			env[key] = value
		}
		got, err := shardOf(c.shard, func(key string) string { return env[key] })
		if err == nil && got.String() != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("--shard %s with %s: %v, %v; want %s", c.shard, c.env, got, err, c.want)
		}
	}
}
