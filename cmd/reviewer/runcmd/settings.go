package runcmd

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/engine/run"
	"github.com/spf13/cobra"
)

// settings are those of the policy that a run uses.
type settings struct {
	Run struct {
		Time       int64    `json:"max_execution_time_seconds"`
		Tokens     int64    `json:"max_token_usage"`
		Cost       float64  `json:"max_cost_usd"`
		Processes  int      `json:"max_processes"`
		OpenFiles  int      `json:"max_open_files"`
		FileMB     int64    `json:"max_file_mb"`
		WrittenMB  int64    `json:"max_written_mb"`
		Check      int64    `json:"check_ms"`
		Grace      int64    `json:"grace_ms"`
		KillWait   int64    `json:"kill_wait_ms"`
		Compare    int64    `json:"compare_ms"`
		Resident   int64    `json:"resident_check_ms"`
		Doubts     int      `json:"resident_doubts"`
		Tell       []string `json:"tell"`
		TellShare  float64  `json:"tell_share"`
		Rewind     bool     `json:"rewind"`
		Unreviewed string   `json:"unreviewed"`
		Leftover   string   `json:"leftover"`
		Texts      struct {
			Unreviewed string `json:"unreviewed"`
			Stopped    string `json:"stopped"`
			NearLimit  string `json:"near_limit"`
			Refused    string `json:"refused"`
			Rewound    string `json:"rewound"`
		} `json:"texts"`
	} `json:"run"`
	Isolation struct {
		Profile   string   `json:"profile"`
		Read      []string `json:"read"`
		Write     []string `json:"write"`
		Hidden    []string `json:"hidden"`
		Masked    []string `json:"masked"`
		Devices   []string `json:"devices"`
		Own       []string `json:"own"`
		Protected []string `json:"protected"`
		Made      []struct {
			Path     string `json:"path"`
			Contents string `json:"contents"`
		} `json:"made"`
		Variables      []string            `json:"variables"`
		Hosts          []string            `json:"hosts"`
		Ports          []int               `json:"ports"`
		AgentHosts     map[string][]string `json:"agent_hosts"`
		AgentRead      map[string][]string `json:"agent_read"`
		AgentWrite     map[string][]string `json:"agent_write"`
		AgentProtected map[string][]string `json:"agent_protected"`
		Unexpected     string              `json:"unexpected"`
		Texts          struct {
			Unexpected string `json:"unexpected"`
			Refused    string `json:"refused"`
			Resident   string `json:"resident"`
		} `json:"texts"`
	} `json:"isolation"`
	Hosts struct {
		Known    []string `json:"known"`
		Drops    []string `json:"drops"`
		Metadata []string `json:"metadata"`
	} `json:"hosts"`
	Workspace struct {
		Denied []string `json:"denied"`
	} `json:"workspace"`
	Resources struct {
		MemoryMB int64 `json:"max_memory_mb"`
	} `json:"resources"`
}

// readSettings reads the settings of a run, and lowers the limits to those of the flags.
func readSettings(all map[string]any, f limitFlags) (s settings, err error) {
	part := map[string]any{}
	for _, key := range []string{"run", "resources", "isolation", "hosts", "workspace"} {
		part[key] = all[key]
	}
	raw, err := json.Marshal(part)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read the settings of runs: %w", err)
	}
	return s, f.lower(&s)
}

// limits are those of the supervisor.
func (s settings) limits() run.Limits {
	return run.Limits{Time: time.Duration(s.Run.Time) * time.Second, Memory: s.Resources.MemoryMB << 20,
		Tokens: s.Run.Tokens, Cost: s.Run.Cost,
		Processes: s.Run.Processes, OpenFiles: s.Run.OpenFiles, FileSize: s.Run.FileMB << 20, Written: s.Run.WrittenMB << 20}
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
func (f limitFlags) lower(s *settings) error {
	seconds := int64((f.time + time.Second - 1) / time.Second)
	processes := int64(s.Run.Processes)
	for _, l := range []struct {
		flag, setting string
		to            int64
		limit         *int64
	}{
		{"--max-time", "run.max_execution_time_seconds", seconds, &s.Run.Time},
		{"--max-memory-mb", "resources.max_memory_mb", f.memory, &s.Resources.MemoryMB},
		{"--max-tokens", "run.max_token_usage", f.tokens, &s.Run.Tokens},
		{"--max-processes", "run.max_processes", f.processes, &processes},
		{"--max-written-mb", "run.max_written_mb", f.written, &s.Run.WrittenMB},
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
	s.Run.Processes = int(processes)
	if f.cost < 0 || f.cost > s.Run.Cost {
		return cli.Usage("--max-cost: the settings allow at most %g (run.max_cost_usd); a flag can only lower it", s.Run.Cost)
	}
	if f.cost > 0 {
		s.Run.Cost = f.cost
	}
	return nil
}
