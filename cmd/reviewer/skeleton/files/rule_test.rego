package {{if .Base}}reviewer.spoken_test{{else}}policies.{{.Layer}}.rules_test{{end}}

import data.{{if .Base}}reviewer.spoken{{else}}policies.{{.Layer}}{{end}}

test_{{.Name}}[flag] if {
	some flag, want in {"--prod": {"{{.ID}}"}, "--staging": set()}
	said := {{if .Base}}spoken.speaks{{else}}{f.id | some f in {{.Layer}}.findings}{{end}} with input as _{{.Name}}_call(flag)
	want == said & {"{{.ID}}"}
}

_{{.Name}}_call(flag) := {
	"phase": "pre",
	"action": {"commands": [{"name": "example-tool", "flags": [flag]}]},
}
