package reviewer.risk

default level := "low"

level := "high" if score > 0.7

score := 0.8 if {
	some e in input.action.effects
	e.knd == "file_delete"
	e.target != "<script>alert(1)</script>"
	not startswith(e.target, "/workspace/of/somebody/with/a/rather/long/path/that/does/not/fit/on/a/telephone")
} else := 0.3 if {
	count(input.action.effects) > 0
}
