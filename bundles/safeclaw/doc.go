// Package safeclaw converts policies of SafeClaw into access lists.
//
// A policy of SafeClaw is an ordered list in JSON:
//
//	{ "id": "team", "name": "Team", "defaultEffect": "deny", "rules": [
//	  { "id": "reads", "effect": "allow", "description": "…",
//	    "condition": { "field": "action.type", "operator": "startsWith", "value": "safe.read" },
//	    "schedule": { "hoursUtc": [9, 17], "daysOfWeek": [1, 2, 3, 4, 5] },
//	    "expiresAt": "2027-01-31T00:00:00Z" } ] }
//
// The first rule that applies is the answer, else defaultEffect. A condition is {any:
// […]}, {all: […]} or one predicate, and any is examined first. The converted list
// gives the same answer as SafeClaw's own simulator for every action type, resource
// and time:
//
//   - eq, startsWith, contains, in (a list, or a string with commas) and matches
//     compare strings; an operator or a field that SafeClaw does not have is false.
//   - An empty any is false, an empty all is true.
//   - matches is a regular expression of JavaScript, which is converted if it is
//     plain RE2, too. One that a guard against slow expressions refuses silently
//     matches nothing.
//   - hoursUtc is [start, end), over midnight where start > end; where they are
//     equal it contains no hour, and the rule never fires. Weekday 0 is Sunday.
//   - From the instant of expiresAt on, the rule does not apply. A value that is a date only on some machines, or on none, is refused.
//   - An effect other than allow, deny and require_approval denies.
//
// If SafeClaw's reading is unclear (a value that is not a string, a date without a zone)
// or RE2 has no equivalent, the rule is left out, with a remark.
//
// Names and resources come from the classifiers, and those are not the same:
// remarks say where.
package safeclaw
