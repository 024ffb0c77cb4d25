package {{if .Base}}reviewer.spoken_test{{else}}policies.{{.Layer}}.rules_test{{end}}

import data.{{if .Base}}reviewer.fired{{else}}policies.{{.Layer}}{{end}}

test_{{.Name}}[flag] if {
	some flag, want in {"--prod": {"{{.ID}}"}, "--staging": set()}
	ids := {{if .Base}}fired.fires{{else}}{f.id | some f in {{.Layer}}.findings}{{end}} with input as _{{.Name}}_call(flag)
	want == ids & {"{{.ID}}"}
}

_{{.Name}}_call(flag) := {
	"phase": "pre",
	"action": {"commands": [{"name": "{{.Tool}}", "flags": [flag]}]},
}
