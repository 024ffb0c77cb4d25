package rows

import (
	"slices"
	"strings"
)

// HasOption reports whether a row names an option: the program has it.
func (p Program) HasOption(option string) bool {
	for _, list := range []string{p.Values, p.Glued, p.Flags, p.Persistent, p.Endpoint, p.Daemon, p.Dir, p.DryRun, p.Usage, p.Code, p.Scripts,
		p.Dangerous} {
		if Has(list, option) {
			return true
		}
	}
	names := func(c Case) bool { return c.hasOption(option) }
	return slices.ContainsFunc(p.Cases, names) || slices.ContainsFunc(p.Before, names) || slices.ContainsFunc(p.Notes, names)
}

func (c Case) hasOption(option string) bool {
	for _, values := range []map[string]string{c.Value, c.Other} {
		for options := range values {
			if Has(options, option) {
				return true
			}
		}
	}
	return Has(c.Option, option) || Has(c.Without, option) || mentions(c.Has, option) ||
		slices.ContainsFunc(c.Do, func(s Step) bool { return s.hasOption(option) })
}

func (s Step) hasOption(option string) bool {
	for _, list := range []string{s.If, s.Unless, s.Recursive, s.Forced, s.Confirmed, s.In} {
		if Has(list, option) {
			return true
		}
	}
	_, value := s.Op()
	return mentions(value, option) || mentions(s.On, option) || mentions(s.Mode, option) || mentions(s.Size, option)
}

// mentions reports whether an option is one of those of a selector.
func mentions(selector, option string) bool {
	words := strings.FieldsFunc(selector, func(r rune) bool { return r == ' ' || r == ',' })
	return strings.Contains(selector, option) && slices.Contains(words, option)
}

// Always reports whether a case applies to each call.
func (c Case) Always() bool {
	return c.Names+c.Sub+c.Means+c.Option+c.Without+c.Any+c.Has+c.Operands == "" && len(c.Value)+len(c.Other)+len(c.Words) == 0 &&
		!c.Bare && !c.Answered
}
