package operation

import "encoding/json"

// DocumentRight returns what a policy document allows without a condition: everyone
// something, someone everything, or nothing notable.
func DocumentRight(text string) string {
	var doc struct{ Statement json.RawMessage }
	if json.Unmarshal([]byte(text), &doc) != nil {
		return ""
	}
	type statement struct {
		Effect                       string
		Principal, Action, Condition any
	}
	var list []statement
	if json.Unmarshal(doc.Statement, &list) != nil {
		list = make([]statement, 1)
		if json.Unmarshal(doc.Statement, &list[0]) != nil {
			return ""
		}
	}
	for _, st := range list {
		who, _ := st.Principal.(map[string]any)
		switch {
		case st.Effect != "Allow" || st.Condition != nil:
		case holdsStar(st.Principal) || holdsStar(who["AWS"]):
			return "everybody"
		case holdsStar(st.Action):
			return "everything"
		}
	}
	return ""
}

// holdsStar reports whether a member is *, or a list that contains it.
func holdsStar(v any) bool {
	list, _ := v.([]any)
	for _, item := range list {
		if item == "*" {
			return true
		}
	}
	return v == "*"
}
