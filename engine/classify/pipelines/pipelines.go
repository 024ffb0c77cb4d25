// Package pipelines finds the branches of a repository whose pushes are deployed, as its workflows and the settings of hosting
// services say. Which words mean a deployment, and which files are such settings, are rows.
//
// Out of scope: which branch a push writes to, and whether somebody ordered it.
package pipelines

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// A Deployment is a branch that is deployed when something is pushed to it.
type Deployment struct {
	Branch string // a pattern such as main or release/**; with ! before it, branches that the same file leaves out
	File   string // that says so, from the repository's top folder
}

// Limits of what is read.
const (
	maxFiles  = 32        // workflows
	maxFile   = 128 << 10 // bytes of one
	maxResult = 8         // deployments
)

// Repository is a working tree.
type Repository struct {
	Read  func(name string, limit int64) ([]byte, error) // a file, from the top folder
	Names func(folder string) []string                   // in a folder
	Main  []string                                       // names that its main branch may have
}

// Words are the lists of rows.
type Words struct {
	Hosting []string // files of services that deploy the main branch
	Deploys []string // parts of the names, actions and commands of jobs that deploy
	Stages  []string // words in the names of jobs and environments that are not production
}

// Find lists the deployments.
func (r Repository) Find(w Words) []Deployment {
	f := finder{Repository: r, Words: w}
	for _, file := range w.Hosting {
		if _, err := r.Read(file, maxFile); err == nil {
			f.add(file, r.Main...)
		}
	}
	for _, folder := range []string{".github/workflows", ".gitea/workflows", ".forgejo/workflows"} {
		names := r.Names(folder)
		slices.Sort(names)
		for _, name := range names[:min(len(names), maxFiles)] {
			if ext := path.Ext(name); ext == ".yml" || ext == ".yaml" {
				f.workflow(folder + "/" + name)
			}
		}
	}
	f.gitlab(".gitlab-ci.yml")
	f.bitbucket("bitbucket-pipelines.yml")
	return f.found
}

type finder struct {
	Repository
	Words
	found []Deployment
}

func (f *finder) add(file string, branches ...string) {
	for _, b := range branches {
		if d := (Deployment{b, file}); len(f.found) < maxResult && !slices.Contains(f.found, d) {
			f.found = append(f.found, d)
		}
	}
}

// document reads a file with a mapping; nil: there is none, or it cannot be parsed.
func (f *finder) document(file string) map[string]any {
	text, err := f.Read(file, maxFile)
	if err != nil {
		return nil
	}
	var doc map[string]any
	if yaml.Unmarshal(text, &doc) != nil {
		return nil
	}
	return doc
}

// workflow reads a workflow of GitHub, or one written like it.
func (f *finder) workflow(file string) {
	doc := f.document(file)
	branches := pushed(doc["on"])
	if len(branches) == 0 {
		return
	}
	jobs := mapping(doc["jobs"])
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		job := mapping(jobs[id])
		texts := []string{id, text(job["name"]), text(job["uses"])}
		for _, step := range list(job["steps"]) {
			step := mapping(step)
			texts = append(texts, text(step["name"]), text(step["uses"]), text(step["run"]))
		}
		if !f.deploys(id, environment(job["environment"]), texts) {
			continue
		}
		switch condition := text(job["if"]); {
		case strings.Contains(condition, "github.ref"):
			f.add(file, compared(condition)...)
		case strings.Contains(condition, "event_name") && !strings.Contains(condition, "push") && !strings.Contains(condition, "!="):
		default:
			f.add(file, branches...)
		}
	}
}

// deploys reports whether a job deploys, to production as far as names say: it has an environment, or one of its texts has a word
// of a deployment.
func (f *finder) deploys(name, environment string, texts []string) bool {
	if environment != "" {
		return !slices.ContainsFunc(parts(environment), f.isStage)
	}
	words := slices.DeleteFunc(parts(name), func(w string) bool { return w == "to" })
	for i, w := range words {
		if near := words[max(0, i-1):min(len(words), i+2)]; f.isStage(w) && f.mentions(strings.Join(near, " ")) {
			return false // deploy-staging, but not test-and-deploy
		}
	}
	return slices.ContainsFunc(texts, f.mentions)
}

func (f *finder) isStage(word string) bool { return slices.Contains(f.Stages, word) }

func (f *finder) mentions(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(f.Deploys, func(w string) bool { return strings.Contains(text, w) })
}

// parts splits a name into its words.
func parts(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
}

// pushed returns the patterns of branches for which a push starts a workflow.
func pushed(on any) []string {
	switch on := on.(type) {
	case string:
		if on == "push" {
			return []string{"**"}
		}
	case []any:
		if slices.Contains(on, any("push")) {
			return []string{"**"}
		}
	case map[string]any:
		push, ok := on["push"]
		if !ok {
			return nil
		}
		of := mapping(push)
		if branches := texts(of["branches"]); len(branches) > 0 {
			return branches
		}
		if of["tags"] != nil && of["branches-ignore"] == nil {
			return nil
		}
		branches := []string{"**"}
		for _, ignored := range texts(of["branches-ignore"]) {
			branches = append(branches, "!"+ignored)
		}
		return branches
	}
	return nil
}

// compared returns the branches that a condition names: main in github.ref == 'refs/heads/main'.
func compared(condition string) []string {
	var names []string
	for i, part := range strings.FieldsFunc(condition, func(r rune) bool { return r == '\'' || r == '"' }) {
		name := strings.TrimPrefix(part, "refs/heads/")
		if i%2 == 1 && !strings.HasPrefix(name, "refs/") && !slices.Contains(events, name) {
			names = append(names, name)
		}
	}
	return names
}

// events are what else starts a workflow or a pipeline, and no branch.
var events = []string{"push", "pull_request", "workflow_dispatch", "schedule", "release", "tags", "web", "api", "schedules", "triggers",
	"merge_requests", "external", "pipelines"}

// gitlab reads a pipeline of GitLab.
func (f *finder) gitlab(file string) {
	jobs := f.document(file)
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		job, ok := jobs[id].(map[string]any)
		if !ok || strings.HasPrefix(id, ".") || job["script"] == nil || text(job["when"]) == "manual" {
			continue
		}
		if f.deploys(id, environment(job["environment"]), append(texts(job["script"]), id, text(job["stage"]))) {
			f.add(file, f.branches(job)...)
		}
	}
}

// branches returns the patterns of branches for which GitLab runs a job.
func (f *finder) branches(job map[string]any) (names []string) {
	only := texts(job["only"])
	if refs := mapping(job["only"])["refs"]; refs != nil {
		only = texts(refs)
	}
	rules := list(job["rules"])
	switch {
	case len(only) > 0:
		return slices.DeleteFunc(only, func(s string) bool { return slices.Contains(events, s) })
	case len(rules) == 0:
		return []string{"**"}
	}
	for _, rule := range rules {
		condition, when := text(mapping(rule)["if"]), text(mapping(rule)["when"])
		switch {
		case when == "manual" || when == "never" || strings.Contains(condition, "CI_COMMIT_TAG") || strings.Contains(condition, "merge_request"):
		case strings.Contains(condition, "$CI_DEFAULT_BRANCH"):
			names = append(names, f.Main...)
		case strings.Contains(condition, "CI_COMMIT_BRANCH") || strings.Contains(condition, "CI_COMMIT_REF_NAME"):
			names = append(names, compared(condition)...)
		}
	}
	return names
}

// bitbucket reads a pipeline of Bitbucket, whose steps name where they deploy to.
func (f *finder) bitbucket(file string) {
	pipelines := mapping(f.document(file)["pipelines"])
	runs := mapping(pipelines["branches"])
	if all := pipelines["default"]; all != nil {
		if runs = maps.Clone(runs); runs == nil {
			runs = map[string]any{}
		}
		runs["**"] = all
	}
	for _, branch := range slices.Sorted(maps.Keys(runs)) {
		for _, item := range list(runs[branch]) {
			step := mapping(mapping(item)["step"])
			if text(step["trigger"]) != "manual" && f.deploys("", text(step["deployment"]), nil) {
				f.add(file, branch)
			}
		}
	}
}

// environment returns the name of the environment of a job.
func environment(v any) string {
	if of, ok := v.(map[string]any); ok {
		return text(of["name"])
	}
	return text(v)
}

func mapping(v any) map[string]any {
	of, _ := v.(map[string]any)
	return of
}

func list(v any) []any {
	of, _ := v.([]any)
	return of
}

func text(v any) string {
	of, _ := v.(string)
	return of
}

// texts returns a text, or the texts of a list.
func texts(v any) []string {
	if s := text(v); s != "" {
		return []string{s}
	}
	var all []string
	for _, item := range list(v) {
		if s := text(item); s != "" {
			all = append(all, s)
		}
	}
	return all
}
