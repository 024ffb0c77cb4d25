package tasks

import (
	"strings"

	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
	"go.yaml.in/yaml/v3"
)

// taskFileYAML is the part of a Taskfile that is read.
type taskFileYAML struct {
	Vars  map[string]yaml.Node
	Tasks map[string]taskYAML
}

// taskYAML is a task. It may be written as a command or a list of commands.
type taskYAML struct {
	Dir  string
	Vars map[string]yaml.Node
	Deps []commandYAML
	Cmds []commandYAML
}

// commandYAML is a command or the name of another task.
type commandYAML struct {
	Cmd, Task, Defer string
}

func (t *taskYAML) UnmarshalYAML(n *yaml.Node) error {
	switch n.Kind {
	case yaml.ScalarNode:
		t.Cmds = []commandYAML{{Cmd: n.Value}}
		return nil
	case yaml.SequenceNode:
		return n.Decode(&t.Cmds)
	}
	type plain struct {
		Dir  string
		Cmd  string
		Vars map[string]yaml.Node
		Deps []depYAML
		Cmds []commandYAML
	}
	var p plain
	if err := n.Decode(&p); err != nil {
		return err
	}
	t.Dir, t.Vars, t.Cmds = p.Dir, p.Vars, p.Cmds
	if p.Cmd != "" {
		t.Cmds = append(t.Cmds, commandYAML{Cmd: p.Cmd})
	}
	for _, d := range p.Deps {
		t.Deps = append(t.Deps, commandYAML{Task: d.Task})
	}
	return nil
}

// depYAML is the name of a task, or an object with it.
type depYAML struct{ Task string }

func (d *depYAML) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		d.Task = n.Value
		return nil
	}
	type plain depYAML
	return n.Decode((*plain)(d))
}

func (c *commandYAML) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		c.Cmd = n.Value
		return nil
	}
	var p struct {
		Cmd, Task string
		Defer     yaml.Node
	}
	if err := n.Decode(&p); err != nil {
		return err
	}
	c.Cmd, c.Task, c.Defer = p.Cmd, p.Task, p.Defer.Value
	return nil
}

// taskRun runs tasks of a Taskfile.
type taskRun struct {
	c    *shell.Call
	file taskFileYAML
	done map[string]bool
}

// TaskCommands runs the tasks named in the arguments of task.
func TaskCommands(c *shell.Call) (seen bool) {
	if DryRuns(c) || c.On(false, "-l", "--list", "-a", "--list-all", "--summary", "--status") {
		return true
	}
	run := func(code abstract.Arg) bool {
		r := &taskRun{c: c, done: map[string]bool{}}
		if err := yaml.Unmarshal([]byte(code.Text), &r.file); err != nil {
			c.Shell.Unseen(abstract.UnknownArg(), "Taskfile")
			return false
		}
		return r.start()
	}
	if files := c.Opts.All("-t", "--taskfile"); len(files) > 0 {
		if code, ok := c.Shell.CodeIn(files[0], "tasks"); ok {
			ran := false
			whole := c.Shell.InTask(code, files[0], func() { ran = run(code.Text) })
			return ran && whole
		}
		return false
	}
	return taskFile(c, run, "Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml")
}

// start runs what the command line names, and reports whether there is such a
// task.
func (r *taskRun) start() bool {
	var names []string
	for _, a := range r.c.Opts.Operands {
		if !strings.Contains(a.Text, "=") {
			names = append(names, a.Text)
		}
	}
	if len(names) == 0 {
		names = []string{"default"}
	}
	all := true
	for _, n := range names {
		all = r.task(n) && all
	}
	return all
}

func (r *taskRun) task(name string) bool {
	t, ok := r.file.Tasks[name]
	if !ok || r.done[name] {
		return ok
	}
	r.done[name] = true
	for _, d := range t.Deps {
		r.task(d.Task)
	}
	r.c.Shell.Subshell(func() shell.Outcome {
		if t.Dir != "" {
			r.c.Shell.Scope.Enter([]abstract.Value{abstract.JoinDir(r.c.Shell.Scope.Dirs[0], r.expand(t.Dir, t))})
		}
		for _, cmd := range t.Cmds {
			r.task(cmd.Task)
			for _, code := range []string{cmd.Cmd, cmd.Defer} {
				if code != "" {
					r.c.Child(func() shell.Outcome { return r.c.Shell.Embed(r.expand(code, t), "task", false) })
				}
			}
		}
		return shell.Outcome{}
	})
	return true
}

// expand replaces {{.NAME}} with values that are written out; any other
// template is unknown.
func (r *taskRun) expand(text string, t taskYAML) abstract.Arg {
	var out abstract.Arg
	for range shell.MaxWords {
		before, rest, ok := strings.Cut(text, "{{")
		out = abstract.Concat(out, abstract.Word(before))
		if !ok {
			return out
		}
		template, after, _ := strings.Cut(rest, "}}")
		out, text = abstract.Concat(out, r.value(strings.Trim(template, "- \t"), t)), after
	}
	return abstract.Concat(out, abstract.UnknownArg())
}

func (r *taskRun) value(template string, t taskYAML) abstract.Arg {
	name, ok := strings.CutPrefix(template, ".")
	if !ok {
		return abstract.UnknownArg()
	}
	for _, vars := range []map[string]yaml.Node{t.Vars, r.file.Vars} {
		if v, ok := vars[name]; ok && v.Kind == yaml.ScalarNode && !strings.Contains(v.Value, "{{") {
			return abstract.Word(v.Value)
		}
	}
	return r.c.Shell.Get(name)
}
