package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/batch", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The Job has only fields that Kubernetes knows, and those that an Indexed Job needs.
func TestKubernetesJob(t *testing.T) {
	var job batch.Job
	if err := yaml.UnmarshalStrict(read(t, "kubernetes-job.yaml"), &job); err != nil {
		t.Fatal(err)
	}
	c := job.Spec.Template.Spec.Containers[0]
	i := slices.IndexFunc(c.Env, func(e core.EnvVar) bool { return e.Name == "JOB_COMPLETIONS" })
	switch {
	case job.Spec.CompletionMode == nil || *job.Spec.CompletionMode != batch.IndexedCompletion:
		t.Error("it is not indexed")
	case i < 0 || *job.Spec.Completions != 64 || c.Env[i].Value != "64":
		t.Error("completions and JOB_COMPLETIONS differ")
	case job.Spec.Template.Spec.RestartPolicy != core.RestartPolicyNever && job.Spec.BackoffLimitPerIndex != nil:
		t.Error("backoffLimitPerIndex needs restartPolicy Never")
	case c.Resources.Limits.Memory().Value() < 300<<20:
		t.Error("a task may need 300 MiB")
	}
	for _, m := range c.VolumeMounts {
		if !slices.ContainsFunc(job.Spec.Template.Spec.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("no volume %s", m.Name)
		}
	}
}

// workflow has the fields of an Argo Workflow that ours uses; the containers are those of
// Kubernetes. The types of Argo would bring its server along.
type workflow struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		GenerateName string `json:"generateName"`
	} `json:"metadata"`
	Spec struct {
		Entrypoint         string     `json:"entrypoint"`
		ServiceAccountName string     `json:"serviceAccountName"`
		Parallelism        int        `json:"parallelism"`
		Templates          []template `json:"templates"`
	} `json:"spec"`
}

type template struct {
	Name          string     `json:"name"`
	Steps         [][]step   `json:"steps,omitempty"`
	Inputs        parameters `json:"inputs,omitempty"`
	RetryStrategy *struct {
		Limit       string `json:"limit"`
		RetryPolicy string `json:"retryPolicy"`
	} `json:"retryStrategy,omitempty"`
	Container *core.Container `json:"container,omitempty"`
}

type step struct {
	Name         string     `json:"name"`
	Template     string     `json:"template"`
	Arguments    parameters `json:"arguments,omitempty"`
	WithSequence *struct {
		Count string `json:"count"`
	} `json:"withSequence,omitempty"`
}

type parameters struct {
	Parameters []struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
	} `json:"parameters"`
}

func TestArgoWorkflow(t *testing.T) {
	var w workflow
	if err := yaml.UnmarshalStrict(read(t, "argo-workflow.yaml"), &w); err != nil {
		t.Fatal(err)
	}
	if w.APIVersion != "argoproj.io/v1alpha1" || w.Kind != "Workflow" || w.Spec.Templates[0].Name != w.Spec.Entrypoint {
		t.Errorf("%s %s begins with %s", w.APIVersion, w.Kind, w.Spec.Entrypoint)
	}
	for _, steps := range w.Spec.Templates[0].Steps {
		for _, s := range steps {
			if !slices.ContainsFunc(w.Spec.Templates, func(x template) bool { return x.Name == s.Template && x.Container != nil }) {
				t.Errorf("step %s has no template %s with a container", s.Name, s.Template)
			}
		}
	}
}

func TestAWSBatch(t *testing.T) {
	var job struct {
		JobName, JobQueue, JobDefinition string
		ArrayProperties                  struct{ Size int }
		RetryStrategy                    struct{ Attempts int }
		ContainerOverrides               struct {
			Command              []string
			ResourceRequirements []struct{ Type, Value string }
		}
	}
	d := json.NewDecoder(strings.NewReader(string(read(t, "aws-batch.json"))))
	d.DisallowUnknownFields()
	if err := d.Decode(&job); err != nil || job.ArrayProperties.Size != 64 || !strings.Contains(job.ContainerOverrides.Command[2], "--shard auto/64 ") {
		t.Errorf("%+v, %v", job, err)
	}
}

// The scripts are those of a shell, with options of sbatch; make e2e-engines runs them.
func TestSlurmScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts of a Unix shell")
	}
	for _, name := range []string{"slurm-shard.sh", "slurm-merge.sh"} {
		if out, err := exec.Command("sh", "-n", filepath.Join("../../docs/batch", name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for line := range strings.Lines(string(read(t, name))) {
			option, directive := strings.CutPrefix(line, "#SBATCH --")
			key, _, _ := strings.Cut(option, "=")
			if directive && !slices.Contains([]string{"job-name", "ntasks", "cpus-per-task", "mem", "output"}, key) {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
