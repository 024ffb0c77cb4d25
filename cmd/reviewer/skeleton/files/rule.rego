package {{if .Base}}reviewer.fired{{else}}policies.{{.Layer}}{{end}}

# METADATA
# title: {{.Title}}
# custom:
#   id: {{.ID}}
{{if .Base}}fires contains "{{.ID}}"{{else}}findings contains {"id": "{{.ID}}"}{{end}} if {
	input.phase == "pre"
	some c in input.action.commands
	c.name == "{{.Tool}}"
	"--prod" in c.flags
}
