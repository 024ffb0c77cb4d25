# METADATA
# title: Rules in Rego
# description: >-
#   The families of rules that are written in Rego are packages below reviewer.families. A rule there is a rule
#   of the catalogue with the same id; its METADATA is its row.
# scope: package
package reviewer.firing

# METADATA
# title: The rules in Rego that fire
# description: >-
#   reviewer evaluates in place of this one a rule for each id, with the tests of the input that the
#   id's definition begins with. OPA's index then chooses among them without evaluating the others.
ids contains id if {
	some family, id
	data.reviewer.families[family][id] == true
	not startswith(id, "_")
}
