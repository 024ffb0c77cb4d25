package sql

import (
	"slices"
	"strconv"
	"strings"
)

// boundedRows reports whether a DELETE or UPDATE names the rows that it is
// about: by a limit, or by a condition that is not true for every row.
func boundedRows(st []sqlToken) bool {
	if findWord(st, "LIMIT", "TOP") > 0 {
		return true
	}
	i := lastAtTop(st, "WHERE")
	if i < 0 {
		return false
	}
	where := st[i+1:]
	if end := slices.IndexFunc(where, func(t sqlToken) bool { return t.is("RETURNING", "ORDER", "OPTION") }); end >= 0 {
		where = where[:end]
	}
	return len(where) > 0 && !alwaysTrue(where)
}

// lastAtTop is the index of the last such word outside parentheses.
func lastAtTop(st []sqlToken, word string) int {
	depth, at := 0, -1
	for i, t := range st {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && t.kind == sqlWord && t.text == word:
			at = i
		}
	}
	return at
}

// alwaysTrue reports whether a condition is true for every row: 1=1, id = id, a
// OR true, id IS NOT NULL, id > 0.
func alwaysTrue(cond []sqlToken) bool {
	cond = bare(cond)
	if parts := splitTop(cond, "OR"); len(parts) > 1 {
		return slices.ContainsFunc(parts, alwaysTrue)
	}
	if parts := splitTop(cond, "AND"); len(parts) > 1 {
		return !slices.ContainsFunc(parts, func(p []sqlToken) bool { return !alwaysTrue(p) })
	}
	if len(cond) > 1 && cond[0].is("NOT") {
		return neverTrue(cond[1:])
	}
	return plainlyTrue(undotted(cond))
}

// bare removes parentheses that enclose a whole condition.
func bare(cond []sqlToken) []sqlToken {
	for len(cond) > 2 && cond[0].is("(") && sqlClosing(cond, 0) == len(cond)-1 {
		cond = cond[1 : len(cond)-1]
	}
	return cond
}

func splitTop(cond []sqlToken, word string) [][]sqlToken {
	var parts [][]sqlToken
	depth, from := 0, 0
	for i, t := range cond {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && (t.is(word) || word == "OR" && t.is("||")):
			parts = append(parts, cond[from:i])
			from = i + 1
		}
	}
	return append(parts, cond[from:])
}

// undotted joins a name with dots into one token.
func undotted(cond []sqlToken) []sqlToken {
	var out []sqlToken
	for i := 0; i < len(cond); i++ {
		if n := len(out); cond[i].is(".") && n > 0 && i+1 < len(cond) {
			out[n-1].text += "." + strings.ToUpper(cond[i+1].text)
			i++
			continue
		}
		out = append(out, cond[i])
	}
	return out
}

func plainlyTrue(c []sqlToken) bool {
	switch {
	case len(c) == 1:
		return c[0].is("TRUE") || c[0].kind == sqlNumber && sqlValue(c[0]) != 0
	case len(c) == 4 && c[1].is("IS") && c[2].is("NOT") && c[3].is("NULL"):
		return true
	case len(c) > 3 && c[0].is("EXISTS"):
		return c[2].is("SELECT") && findWord(c, "FROM") < 0
	case len(c) > 4 && c[1].is("IN") && c[3].is("SELECT"):
		return findWord(c, "WHERE", "LIMIT", "JOIN", "HAVING", "TOP", "FETCH", "EXCEPT") < 0
	case len(c) == 3:
		return holds(c[0], c[1].text, c[2])
	}
	return false
}

// holds reports whether a comparison is true for every row: of two literals, of an
// expression with itself, or of a column with a number that every key exceeds.
func holds(a sqlToken, op string, b sqlToken) bool {
	literal := func(t sqlToken) bool { return t.kind == sqlText || t.kind == sqlNumber }
	switch {
	case op == "LIKE" || op == "ILIKE":
		return b.kind == sqlText && b.text != "" && strings.Trim(b.text, "%") == ""
	case literal(a) && literal(b):
		return compares(a, op, b)
	case !literal(a) && !literal(b):
		return (op == "=" || op == "<=>" || op == ">=" || op == "<=") && strings.EqualFold(a.text, b.text)
	case op == ">" || op == ">=":
		return b.kind == sqlNumber && (sqlValue(b) <= 0 || sqlValue(b) == 1 && op == ">=")
	case op == "<>" || op == "!=":
		return b.text == "" && b.kind == sqlText || b.kind == sqlNumber && sqlValue(b) <= 0
	}
	return false
}

func compares(a sqlToken, op string, b sqlToken) bool {
	same := a.text == b.text
	less := a.text < b.text
	if a.kind == sqlNumber && b.kind == sqlNumber {
		same, less = sqlValue(a) == sqlValue(b), sqlValue(a) < sqlValue(b)
	}
	switch op {
	case "=", "<=>":
		return same
	case "<>", "!=":
		return !same
	case "<":
		return less
	case ">":
		return !less && !same
	case "<=":
		return less || same
	case ">=":
		return !less
	}
	return false
}

func neverTrue(c []sqlToken) bool {
	c = bare(c)
	switch {
	case len(c) == 1:
		return c[0].is("FALSE") || c[0].kind == sqlNumber && sqlValue(c[0]) == 0
	case len(c) == 3 && (c[0].kind == sqlNumber || c[0].kind == sqlText) && c[2].kind == c[0].kind:
		return !compares(c[0], c[1].text, c[2])
	case len(c) == 3:
		return c[1].is("IS") && c[2].is("NULL")
	}
	return false
}

func sqlValue(t sqlToken) float64 {
	f, err := strconv.ParseFloat(t.text, 64)
	if err != nil {
		return 2 // an arbitrary number
	}
	return f
}
