package tasks

import (
	"slices"
	"strings"
)

// Manifest lists what a Kubernetes manifest, a compose file or a playbook starts, as
// equivalent local commands.
func Manifest(text string) []string {
	if !slices.ContainsFunc([]string{"containers", "services", "tasks"}, func(key string) bool { return strings.Contains(text, key) }) {
		return nil
	}
	r := Reader{Prose: func(string) bool { return false }}
	return r.settings(text, func(doc any) []string {
		return append(append(pods(doc, 0), r.compose(doc)...), r.plays(doc)...)
	}, nil)
}

// pods returns the containers that the manifests in a document start, with their
// access to the host.
func pods(doc any, depth int) []string {
	var list []string
	switch v := doc.(type) {
	case []any:
		for _, item := range v {
			list = append(list, pods(item, depth+1)...)
		}
	case map[string]any:
		if depth > maxNested {
			return nil
		}
		if containers := listOf(v["containers"]); len(containers) > 0 {
			return podLines(v, containers)
		}
		for _, key := range sortedKeys(v) {
			list = append(list, pods(v[key], depth+1)...)
		}
	}
	return list
}

// podLines returns the containers of one pod as local commands that start them.
func podLines(spec map[string]any, containers []any) []string {
	host := hostPaths(spec)
	var list []string
	for _, item := range append(containers, listOf(spec["initContainers"])...) {
		c, ok := item.(map[string]any)
		if !ok {
			continue
		}
		s := map[string]any{"image": c["image"], "entrypoint": c["command"], "command": c["args"]}
		context, _ := c["securityContext"].(map[string]any)
		s["privileged"] = context["privileged"]
		caps, _ := context["capabilities"].(map[string]any)
		s["cap_add"] = caps["add"]
		for key, option := range map[string]string{"hostPID": "pid", "hostNetwork": "network_mode", "hostIPC": "ipc"} {
			if spec[key] == true {
				s[option] = "host"
			}
		}
		s["volumes"] = mounts(c, host)
		list = append(list, service(s))
	}
	return list
}

// hostPaths returns the host folders among the volumes of a pod, by name.
func hostPaths(spec map[string]any) map[string]string {
	paths := map[string]string{}
	for _, item := range listOf(spec["volumes"]) {
		v, _ := item.(map[string]any)
		host, _ := v["hostPath"].(map[string]any)
		if dir, ok := host["path"].(string); ok {
			name, _ := v["name"].(string)
			paths[name] = dir
		}
	}
	return paths
}

// mounts returns these folders with their paths in a container; a volume without a
// name, or that no container mounts, counts as mounted.
func mounts(container map[string]any, host map[string]string) []any {
	var list []any
	named := map[string]string{}
	for _, item := range listOf(container["volumeMounts"]) {
		m, _ := item.(map[string]any)
		name, _ := m["name"].(string)
		named[name], _ = m["mountPath"].(string)
	}
	for name, dir := range host {
		at := named[name]
		if at == "" {
			at = "/host"
		}
		list = append(list, dir+":"+at)
	}
	return list
}

// plays returns the commands of the tasks of a playbook.
func (r Reader) plays(doc any) []string {
	var list []string
	all, _ := doc.([]any)
	for _, item := range all {
		play, _ := item.(map[string]any)
		if _, ok := play["hosts"]; ok && play["tasks"] != nil {
			list = r.texts(list, play["tasks"], 0)
		}
	}
	return list
}
