package simulatecmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-reviewer/reviewer/bundles"
)

// maxSweep limits the number of values that are tried for a setting.
const maxSweep = 101

// parseSweep reads KEY=FROM:TO:STEP, such as risk.high_threshold=0.6:0.9:0.05: a
// setting, and the values to try, rising. Each is an exact decimal: 0.6, 0.65, 0.7.
// bundles checks whether the setting exists.
func parseSweep(text string) (key string, values []float64, err error) {
	key, numbers, ok := strings.Cut(text, "=")
	parts := strings.Split(numbers, ":")
	if !ok || bundles.SettingPath(key) == "" || len(parts) != 3 {
		return "", nil, fmt.Errorf("%.100q: expected KEY=FROM:TO:STEP, such as risk.high_threshold=0.6:0.9:0.05", text)
	}
	var n [3]*big.Rat
	for i, name := range []string{"FROM", "TO", "STEP"} {
		if n[i], err = exactly(parts[i]); err != nil {
			return "", nil, fmt.Errorf("%s in %.100q: %w", name, text, err)
		}
	}
	values, err = steps(n[0], n[1], n[2])
	if err != nil {
		return "", nil, fmt.Errorf("%.100q: %w", text, err)
	}
	return bundles.SettingPath(key), values, nil
}

// parseValues reads what parseSweep reads, or KEY=VALUE|VALUE: a setting, and the values to try, each as JSON or a word.
func parseValues(text string) ([]bundles.Value, error) {
	key, list, ok := strings.Cut(text, "=")
	if !ok || !strings.Contains(list, "|") {
		key, numbers, err := parseSweep(text)
		var values []bundles.Value
		for _, n := range numbers {
			values = append(values, bundles.Value{Key: key, Value: n})
		}
		return values, err
	}
	if bundles.SettingPath(key) == "" {
		return nil, fmt.Errorf("%.100q: expected KEY=VALUE|VALUE, such as enforcement=warn|observe", text)
	}
	var values []bundles.Value
	for part := range strings.SplitSeq(list, "|") {
		v := bundles.Value{Key: bundles.SettingPath(key)}
		if part = strings.TrimSpace(part); json.Unmarshal([]byte(part), &v.Value) != nil {
			v.Value = part
		}
		if part == "" || strings.ContainsAny(part[:1], "[{\"") && v.Value == any(part) {
			return nil, fmt.Errorf("%.100q: expected a word or JSON, such as warn, true or [\"git_push\"], got %.40q", text, part)
		}
		values = append(values, v)
	}
	if len(values) > maxSweep {
		return nil, fmt.Errorf("more than %d values", maxSweep)
	}
	return values, nil
}

// combinations returns each combination of one value of each list; nil: there are more than maxSweep.
func combinations(lists [][]bundles.Value) [][]bundles.Value {
	all := [][]bundles.Value{nil}
	for _, list := range lists {
		var next [][]bundles.Value
		for _, before := range all {
			for _, v := range list {
				next = append(next, append(slices.Clone(before), v))
			}
		}
		if all = next; len(all) > maxSweep {
			return nil
		}
	}
	return all
}

// exactly reads a decimal exactly, which a float cannot represent.
func exactly(text string) (*big.Rat, error) {
	const most = 16 // digits: more do not fit a float
	digits := strings.Count(text, "") - 1 - strings.Count(text, ".") - strings.Count(text, "-")
	if n, ok := new(big.Rat).SetString(onlyDecimal(text)); ok && digits <= most {
		return n, nil
	}
	return nil, fmt.Errorf("expected a number such as 0.05, got %.40q", text)
}

// onlyDecimal returns the text if it is a plain decimal, else an empty string: other
// forms, such as 1e999999999, are expensive to parse.
func onlyDecimal(text string) string {
	if strings.Trim(strings.TrimPrefix(text, "-"), "0123456789") == "" || isFraction(strings.TrimPrefix(text, "-")) {
		return text
	}
	return ""
}

func isFraction(text string) bool {
	whole, rest, ok := strings.Cut(text, ".")
	return ok && whole+rest != "" && strings.Trim(whole+rest, "0123456789") == ""
}

// steps lists the values from one number to another.
func steps(from, to, step *big.Rat) ([]float64, error) {
	way := new(big.Rat).Sub(to, from)
	switch {
	case step.Sign() == 0:
		return nil, errors.New("STEP is 0; give the distance between two values")
	case way.Sign()*step.Sign() < 0:
		return nil, fmt.Errorf("STEP has the wrong sign; write %s", decimalOf(new(big.Rat).Neg(step)))
	}
	count := new(big.Rat).Quo(way, step)
	if count.Cmp(big.NewRat(maxSweep, 1)) >= 0 {
		return nil, fmt.Errorf("more than %d values; make STEP at least %s", maxSweep,
			decimalOf(new(big.Rat).Quo(way, big.NewRat(maxSweep-1, 1))))
	}
	var values []float64
	for at := from; at.Cmp(to)*step.Sign() <= 0; at = new(big.Rat).Add(at, step) {
		v, _ := at.Float64()
		values = append(values, v)
	}
	slices.Sort(values)
	return slices.Compact(values), nil // large numbers may be equal after rounding
}

func decimalOf(n *big.Rat) string {
	v, _ := n.Float64()
	return strconv.FormatFloat(v, 'f', -1, 64)
}
