package cel

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/wildcard"
)

// maxArguments is the number of words that has and sub take.
const maxArguments = 8

// factFunctions declares the functions of facts: c.has, c.sub and c.verb of a command, reads of an effect,
// and under with several folders.
func factFunctions(e *cel.Env) (*cel.Env, error) {
	command, effect := cel.ObjectType("engine.Command"), cel.ObjectType("engine.Effect")
	fixed := cost.Const(10 * cost.CallCost)
	var err error
	for _, f := range []struct {
		name string
		call func(c engine.Command, words []string) bool
	}{{"has", func(c engine.Command, words []string) bool { return c.Has(words...) }}, {"sub", subcommand}} {
		args := []*cel.Type{command}
		for n := 1; n <= maxArguments; n++ {
			args = append(slices.Clone(args), cel.StringType)
			id := fmt.Sprintf("command_%s_%d", f.name, n)
			binding := cel.FunctionBinding(func(values ...ref.Val) ref.Val { return ofCommand(f.call, values) })
			overload := cel.MemberOverload(id, args, cel.BoolType, binding)
			if e, err = declare(e, f.name, overload, id, fixed); err != nil {
				return nil, err
			}
		}
	}
	listed := []*cel.Type{command, cel.ListType(cel.StringType), cel.IntType}
	words := cel.MemberOverload("command_verb", listed, cel.IntType, cel.FunctionBinding(verb))
	if e, err = declare(e, "verb", words, "command_verb", fixed); err != nil {
		return nil, err
	}
	shows := cel.Overload("reads_effect", []*cel.Type{effect}, cel.BoolType, cel.UnaryBinding(reads))
	if e, err = declare(e, "reads", shows, "reads_effect", fixed); err != nil {
		return nil, err
	}
	pair := []*cel.Type{cel.StringType, cel.ListType(cel.StringType)}
	folders := cel.Overload("under_string_list", pair, cel.BoolType, cel.BinaryBinding(underAny))
	scan := cost.StringScan(cost.Sum(cost.Length(cost.Arg(0)), cost.Const(maxItems)))
	if e, err = declare(e, "under", folders, "under_string_list", scan); err != nil {
		return nil, err
	}
	one := cel.Overload("under_effect_string", []*cel.Type{effect, cel.StringType}, cel.BoolType, cel.BinaryBinding(effectUnder))
	if e, err = declare(e, "under", one, "under_effect_string", fixed); err != nil {
		return nil, err
	}
	several := cel.Overload("under_effect_list", []*cel.Type{effect, cel.ListType(cel.StringType)}, cel.BoolType,
		cel.BinaryBinding(effectUnder))
	return declare(e, "under", several, "under_effect_list", cost.Const(maxItems*cost.CallCost))
}

// effectUnder is under for an effect: it may be on the path, on one of several, or on something below.
func effectUnder(a, b ref.Val) ref.Val {
	e, isEffect := effectOf(a)
	if !isEffect {
		return types.MaybeNoSuchOverloadErr(a)
	}
	switch dirs := b.(type) {
	case types.String:
		return types.Bool(concerns(e, string(dirs)))
	case traits.Lister:
		for it := dirs.Iterator(); it.HasNext() == types.True; {
			if dir, ok := it.Next().(types.String); ok && concerns(e, string(dir)) {
				return types.True
			}
		}
		return types.False
	}
	return types.MaybeNoSuchOverloadErr(b)
}

// concerns reports whether an effect may be on a path or on something below it: also if it is on a folder above with
// everything in it, and if its target is a pattern, or only the beginning of it is known, and the fixed parts fit.
func concerns(e engine.Effect, dir string) bool {
	if dir == "" {
		return false
	}
	below := func(p, dir string) bool { yes, _ := under(p, dir); return yes } // it returns no error
	if below(e.Short, dir) || below(e.Target, dir) {
		return true
	}
	dir = path.Clean(dir)
	if !path.IsAbs(dir) && !strings.HasPrefix(dir, "~") && dir != "." {
		dir = "./" + dir // as in Short
	}
	switch e.Certainty {
	case engine.CertaintyPrefix:
		fixed := strings.TrimSuffix(e.Short, "?")
		return fixed != "" && strings.HasPrefix(dir+"/", fixed)
	case engine.CertaintyGlob:
		pattern, parts := strings.Split(e.Short, "/"), strings.Split(dir, "/")
		if slices.Contains(pattern, "**") {
			pattern = pattern[:slices.Index(pattern, "**")]
			return wildcard.Path(pattern, parts[:min(len(pattern), len(parts))])
		}
		n := min(len(pattern), len(parts))
		return (e.Recursive || n == len(parts)) && wildcard.Path(pattern[:n], parts[:n])
	}
	return e.Recursive && (below(dir, e.Short) || below(dir, e.Target))
}

func effectOf(v ref.Val) (engine.Effect, bool) {
	switch e := v.Value().(type) {
	case engine.Effect:
		return e, true
	case *engine.Effect:
		return *e, true
	}
	return engine.Effect{}, false
}

// ofCommand calls a function of a command with words.
func ofCommand(f func(c engine.Command, words []string) bool, values []ref.Val) ref.Val {
	var words []string
	for _, v := range values[1:] {
		s, ok := v.(types.String)
		if !ok {
			return types.MaybeNoSuchOverloadErr(v)
		}
		words = append(words, string(s))
	}
	if c, ok := commandOf(values[0]); ok {
		return types.Bool(f(c, words))
	}
	return types.MaybeNoSuchOverloadErr(values[0])
}

func commandOf(v ref.Val) (engine.Command, bool) {
	switch c := v.Value().(type) {
	case engine.Command:
		return c, true
	case *engine.Command:
		return *c, true
	}
	return engine.Command{}, false
}

// subcommand reports whether the subcommands begin with these words; a word can be several: get|list.
func subcommand(c engine.Command, words []string) bool {
	for i, w := range words {
		if i >= len(c.Sub) || !slices.Contains(strings.Split(w, "|"), c.Sub[i]) {
			return false
		}
	}
	return true
}

// verb returns the place, from 1, of the first of a command's words after the program that is in a list, or a part
// of which is: cache:flush, purge-queue. Only so many words are looked at, and none that is a file's name. 0: none of them is.
func verb(values ...ref.Val) ref.Val {
	list, isList := values[1].(traits.Lister)
	most, isNumber := values[2].(types.Int)
	c, isCommand := commandOf(values[0])
	if !isList || !isNumber || !isCommand {
		return types.MaybeNoSuchOverloadErr(values[0])
	}
	for i, w := range slices.Concat(c.Sub, c.Operands) {
		if i >= int(most) {
			break
		}
		if strings.ContainsAny(w, `/\.`) {
			continue // a file
		}
		for _, part := range strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return strings.ContainsRune("-_:", r) }) {
			if list.Contains(types.String(part)) == types.True {
				return types.Int(i + 1)
			}
		}
	}
	return types.Int(0)
}

// reads reports whether an effect shows what is in a file, not only its name, size or date.
func reads(v ref.Val) ref.Val {
	if e, ok := effectOf(v); ok {
		return types.Bool(e.Kind == engine.EffectFileRead && e.Verb != engine.VerbList)
	}
	return types.MaybeNoSuchOverloadErr(v)
}

// underAny reports whether a path is one of some folders, or under one.
func underAny(path, folders ref.Val) ref.Val {
	list, ok := folders.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(folders)
	}
	for it := list.Iterator(); it.HasNext() == types.True; {
		if v := call(under, path, it.Next()); v != types.False {
			return v
		}
	}
	return types.False
}
