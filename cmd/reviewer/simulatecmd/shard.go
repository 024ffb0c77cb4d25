package simulatecmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// scheduler is a batch system that numbers the tasks of a job in their environment.
type scheduler struct {
	name  string
	index string // the variable with the number of a task, from 0
	count string // the variable with the number of tasks; empty: there is none
	first string // the variable with the smallest number; empty: it is 0
}

func schedulers() []scheduler {
	return []scheduler{
		{name: "Slurm", index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", first: "SLURM_ARRAY_TASK_MIN"},
		{name: "Kubernetes", index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS"},
		{name: "AWS Batch", index: "AWS_BATCH_JOB_ARRAY_INDEX"},
	}
}

// autoShard is --shard that takes the part from the environment.
const autoShard = "auto"

// shardOf reads --shard: i/n, auto or auto/n. Nothing is taken from the environment
// without auto.
func shardOf(text string, getenv func(string) string) (*simulate.Shard, error) {
	mode, count, counted := strings.Cut(text, "/")
	if mode != autoShard {
		return parseShard(text)
	}
	var found []scheduler
	var names []string
	for _, s := range schedulers() {
		if names = append(names, s.index); getenv(s.index) != "" {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0:
		return nil, cli.Usage("--shard auto: this process is not a task of an array, since none of %s is set; give the part as i/n",
			strings.Join(names, ", "))
	case len(found) > 1:
		return nil, cli.Usage("--shard auto: both %s and %s are set; give the part as i/n", found[0].index, found[1].index)
	}
	if !counted {
		return found[0].shard(getenv)
	}
	of, err := number(count)
	if err != nil {
		return nil, cli.Usage("--shard %s: expected auto/n, where n is the number of tasks", text)
	}
	return found[0].numbered(getenv, of, "--shard auto/"+count)
}

// shard takes the number of tasks from the environment, too.
func (s scheduler) shard(getenv func(string) string) (*simulate.Shard, error) {
	if s.count == "" || getenv(s.count) == "" {
		return nil, cli.Usage("--shard auto: %s does not specify the number of tasks; give --shard auto/n", s.name)
	}
	if s.first != "" && getenv(s.first) != "0" {
		return nil, cli.Usage("--shard auto: the array begins with task %s, so it may be a part of another one; number it from 0, and "+
			"give the number of tasks of the whole as --shard auto/n", getenv(s.first))
	}
	of, err := number(getenv(s.count))
	if err != nil {
		return nil, cli.Usage("--shard auto: %s: %w", s.count, err)
	}
	return s.numbered(getenv, of, s.count+"="+getenv(s.count))
}

// numbered returns the shard of a task, given the number of tasks.
func (s scheduler) numbered(getenv func(string) string, of int, source string) (*simulate.Shard, error) {
	index, err := number(getenv(s.index))
	switch {
	case err != nil:
		return nil, cli.Usage("--shard auto: %s: %w", s.index, err)
	case of < 1 || of > maxShards:
		return nil, cli.Usage("--shard auto: %s: expected 1 to %d tasks", source, maxShards)
	case index >= of:
		return nil, cli.Usage("--shard auto: %s=%d is not among the tasks of %s; number the tasks from 0 to %d",
			s.index, index, source, of-1)
	}
	return &simulate.Shard{Index: index + 1, Of: of}, nil
}

func number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return n, nil
}
