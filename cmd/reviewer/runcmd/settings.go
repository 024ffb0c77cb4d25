package runcmd

import (
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/agent-reviewer/reviewer/engine/settings"
	"github.com/spf13/cobra"
)

// limitsOf returns the limits of the supervisor.
func limitsOf(s *settings.Settings) run.Limits {
	return run.Limits{Time: time.Duration(s.Run.MaxExecutionTimeSeconds) * time.Second, Memory: s.Resources.MaxMemoryMB << 20,
		Tokens: s.Run.MaxTokenUsage, Cost: s.Run.MaxCostUSD,
		Processes: int(s.Run.MaxProcesses), OpenFiles: int(s.Run.MaxOpenFiles), FileSize: s.Run.MaxFileMB << 20, Written: s.Run.MaxWrittenMB << 20}
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// limitFlags lower limits. A flag that is not given is 0.
type limitFlags struct {
	time                      time.Duration
	memory, tokens, processes int64
	written                   int64
	cost                      float64
}

func (f *limitFlags) add(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.time, "max-time", 0, "end the run after this time, such as 20m")
	cmd.Flags().Int64Var(&f.memory, "max-memory-mb", 0, "end the run if its processes together use more than this many `mebibytes`")
	cmd.Flags().Int64Var(&f.tokens, "max-tokens", 0, "end the run if the model writes more than this many `tokens`")
	cmd.Flags().Float64Var(&f.cost, "max-cost", 0, "end the run if it costs more than this many US `dollars`")
	cmd.Flags().Int64Var(&f.processes, "max-processes", 0, "maximum `number` of processes in the run")
	cmd.Flags().Int64Var(&f.written, "max-written-mb", 0, "end the run if its processes write more than this many `mebibytes` to disk")
}

// lower lowers the limits of the settings. A flag that would raise one is refused.
func (f limitFlags) lower(s *settings.Settings) error {
	seconds := int64((f.time + time.Second - 1) / time.Second)
	for _, l := range []struct {
		flag, setting string
		to            int64
		limit         *int64
	}{
		{"--max-time", "run.max_execution_time_seconds", seconds, &s.Run.MaxExecutionTimeSeconds},
		{"--max-memory-mb", "resources.max_memory_mb", f.memory, &s.Resources.MaxMemoryMB},
		{"--max-tokens", "run.max_token_usage", f.tokens, &s.Run.MaxTokenUsage},
		{"--max-processes", "run.max_processes", f.processes, &s.Run.MaxProcesses},
		{"--max-written-mb", "run.max_written_mb", f.written, &s.Run.MaxWrittenMB},
	} {
		switch {
		case l.to < 0:
			return cli.Usage("%s %d: expected a positive number", l.flag, l.to)
		case l.to > *l.limit:
			return cli.Usage("%s: the settings allow at most %d (%s); a flag can only lower it", l.flag, *l.limit, l.setting)
		case l.to > 0:
			*l.limit = l.to
		}
	}
	if f.cost < 0 || f.cost > s.Run.MaxCostUSD {
		return cli.Usage("--max-cost: the settings allow at most %g (run.max_cost_usd); a flag can only lower it", s.Run.MaxCostUSD)
	}
	if f.cost > 0 {
		s.Run.MaxCostUSD = f.cost
	}
	return nil
}
