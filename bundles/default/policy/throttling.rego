package reviewer.intervention

# What throttling lowers, and what a call exceeds.

# METADATA
# title: The factor by which the chosen kind throttles
factor_of_chosen := {"factor": _factor} if {
	wants("limit")
} else := {}

_factor := settings.reduction_factors.severe if {
	throttlings != []
} else := min(array.concat([1], [settings.reduction_factors[name] | some name, from in settings.growth; _growth > from]))

_growth := max(array.concat([0], [ratio | some g in input.session.growing; some ratio in g.ratios]))

# METADATA
# title: The factors of the active throttlings
throttlings := [i.factor | some i in made; not i.lifted; settings.enabled]

# METADATA
# title: The limits of a session that was throttled or resumed with limits
# description: Each is at least 1.
limits[name] := lowered(name, base, throttlings) if {
	count(throttlings) + count(_conditions) > 0
	some name, base in settings.limits
}

# METADATA
# title: A limit after throttling
lowered(name, base, throttles) := max([1, floor(base * product(array.concat(_own_factors(name, throttles), _conditions)))])

# A batch is halved, however fast the use of something else grows.
_own_factors(name, throttles) := throttles if name != "batch"

_own_factors("batch", throttles) := [settings.reduction_factors.batch | some _ in throttles]

_conditions := [settings.resume.factor | input.session.resumed == "limits"]

# METADATA
# title: The limits that this call exceeds, in words
exceeded := [limit_text(name, limit) | some name, limit in limits; _use[name] > limit]

# METADATA
# title: A limit that a call exceeds, in words
limit_text(name, limit) := filled(settings.texts.limits[name], {
	"{limit}": sprintf("%d", [limit]),
	"{seconds}": sprintf("%d", [settings.metrics_window_seconds]),
})

# This call included. Denied calls do not count, or an agent that tries again would
# never be below its limit.
_use["calls"] := (1 + _metrics.events) - _metrics.denied

_use["requests"] := _with("network_request")

_use["agents"] := _with("agent_spawn")

_use["processes"] := 1 + _metrics.runs if _runs

_use["files"] := input.session.file_ops if "changes_files" in input.facts

_use["megabytes"] := ceil(input.session.bytes / 1000000) if "changes_files" in input.facts

_use["batch"] := input.history.turn

_use["tokens"] := _since_throttled.tokens

# Reads and writes are not denied: only calls that run programs take long.
_use["seconds"] := ceil(_since_throttled.busy / 1000) if _runs

_runs if count(input.action.commands) > 0

# What was used since the latest throttling, or since the prompt if the session was only
# resumed with limits. Earlier use was allowed.
_since_throttled := [i | some i in made; i.factor; not i.lifted][count(throttlings) - 1] if {
	throttlings != []
} else := input.session

_with(type) := 1 + object.get(_metrics.by_type, type, 0) if type in input.action.types

_metrics := input.history.windows.metrics
