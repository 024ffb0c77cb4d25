package cel

import (
	"path"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// functions declares the additional functions of the language (see the package
// comment), each with its cost model: the lengths of both strings.
func functions() cel.EnvOption {
	return func(e *cel.Env) (*cel.Env, error) {
		for _, f := range []struct {
			name string
			call func(a, b string) (bool, error)
		}{
			{"under", under}, {"glob", glob}, {"domain", domain},
		} {
			scan := cost.StringScan(cost.Sum(cost.Length(cost.Arg(0)), cost.Length(cost.Arg(1))))
			id := f.name + "_string_string"
			overload := cel.Overload(id, []*cel.Type{cel.StringType, cel.StringType}, cel.BoolType,
				cel.BinaryBinding(func(a, b ref.Val) ref.Val { return call(f.call, a, b) }))
			var err error
			if e, err = declare(e, f.name, overload, id, cost.Sum(cost.Const(cost.CallCost), scan)); err != nil {
				return nil, err
			}
		}
		return factFunctions(e)
	}
}

func declare(e *cel.Env, name string, overload cel.FunctionOpt, id string, model cost.QuantityExpr) (*cel.Env, error) {
	e, err := cel.Function(name, overload)(e)
	if err != nil {
		return nil, err
	}
	return cel.CostModel(cost.Overload(id, cost.EvalCost(model)))(e)
}

func call(f func(a, b string) (bool, error), a, b ref.Val) ref.Val {
	x, okX := a.(types.String)
	y, okY := b.(types.String)
	if !okX || !okY {
		return types.MaybeNoSuchOverloadErr(a)
	}
	holds, err := f(string(x), string(y))
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Bool(holds)
}

// under reports whether a path is dir or is under it, as spelled: symbolic
// links were resolved when the facts were made. Nothing is under an empty
// path.
func under(p, dir string) (bool, error) {
	if p == "" || dir == "" {
		return false, nil
	}
	p, dir = path.Clean(p), path.Clean(dir)
	switch dir {
	case "/":
		return path.IsAbs(p), nil
	case ".": // . is the workspace; ~ is another place
		return !path.IsAbs(p) && !strings.HasPrefix(p, "~") && p != ".." && !strings.HasPrefix(p, "../"), nil
	}
	return p == dir || strings.HasPrefix(p, dir+"/"), nil
}

// glob reports whether a whole path matches a pattern: * ? [a-z] stop at a
// slash, ** as a whole segment stands for any number of segments. A set is
// negated by ^ alone.
func glob(p, pattern string) (bool, error) {
	patterns := strings.Split(pattern, "/")
	if err := checkGlob(patterns); err != nil {
		return false, err
	}
	for i, s := range patterns {
		patterns[i] = strings.ReplaceAll(s, "[!", `[\!`)
	}
	return wildcard.Path(patterns, strings.Split(p, "/")), nil
}

// globError describes what is wrong with a pattern.
type globError string

func (e globError) Error() string { return string(e) }

// checkGlob checks the whole pattern: whether it is valid must not depend on the path.
func checkGlob(patterns []string) error {
	for _, s := range patterns {
		if s != "**" && strings.Contains(s, "**") {
			return globError("glob: ** must be alone between slashes, not in " + s)
		}
		if wildcard.Check(s) != nil {
			return globError("glob: " + s + " is not a valid pattern: close the [, or write \\[ for the character")
		}
	}
	return nil
}

// domain reports whether a host is name or under it. Case and a port do not count.
func domain(host, name string) (bool, error) {
	host, name = strings.ToLower(host), strings.ToLower(strings.TrimPrefix(name, "."))
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.Contains(host[:i], ":") {
		host = host[:i]
	}
	host, name = strings.TrimSuffix(host, "."), strings.TrimSuffix(name, ".")
	if host == "" || name == "" {
		return false, nil
	}
	return host == name || strings.HasSuffix(host, "."+name), nil
}
