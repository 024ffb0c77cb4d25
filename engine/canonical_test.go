package engine

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{ "b": 1, "a": [true, null, "x"] }`, `{"a":[true,null,"x"],"b":1}`},
		{`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001,-0]}`, `{"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0]}`},
		{`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"`, `"€$\u000f\nA'B\"\\\\\"/"`},
		{`{"\ud83d\ude00":1,"\ufb33":2}`, "{\"\U0001F600\":1,\"\ufb33\":2}"},
		{`9007199254740993`, `9007199254740992`},
		{`"\b\t\f\r"`, `"\b\t\f\r"`},
	} {
		got, err := Canonical([]byte(c.in))
		if err != nil {
			t.Errorf("Canonical(%s): %v", c.in, err)
		} else if string(got) != c.want {
			t.Errorf("Canonical(%s) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestCanonicalRefuses(t *testing.T) {
	for _, in := range []string{`{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, "\"\xff\"", `[1] [2]`, `{"a":`, ``, `1e999`, strings.Repeat("[", 300) + strings.Repeat("]", 300)} {
		if got, err := Canonical([]byte(in)); err == nil {
			t.Errorf("Canonical(%.40q) = %s, want an error", in, got)
		}
	}
	if _, err := Canonical([]byte(`{"k":1,"k":2}`)); !errors.Is(err, ErrDuplicateKey) {
		t.Errorf("error is %v, want ErrDuplicateKey", err)
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":1,"a":[1.5e10,"\u00e9"]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		once, err := Canonical(in)
		if err != nil {
			return
		}
		twice, err := Canonical(once)
		if err != nil || string(once) != string(twice) {
			t.Fatalf("Canonical is not idempotent: %q -> %q -> %q (%v)", in, once, twice, err)
		}
	})
}

// CanonicalOf is the canonical form of what json.Marshal prints, for every type and value that json.Marshal knows.
func TestCanonicalOf(t *testing.T) {
	deep := any("x")
	for range maxDepth {
		deep = []any{deep}
	}
	type own struct {
		B int `json:"b"`
		A any `json:"a,omitempty"`
	}
	for _, v := range []any{
		nil, true, "a\"\\\n\x01\u2028<&>", "\xff", map[string]any{"\xff": 1, "\xfe": 1}, map[string]any{"\xff": 1}, 0, -1 << 53, 1<<53 + 1, math.MaxInt, math.MinInt,
		0.0, math.Copysign(0, -1), 1e21, 123456789012345680000.0, 1e-7, 0.1, math.MaxFloat64, math.NaN(), math.Inf(1), uint8(7), int64(5), float32(0.1),
		json.Number("1.50"), json.Number(""), json.Number("x"), json.Number("1e999"), json.Number("-0"), json.Number("01"), json.Number("0x10"), json.Number("1_0"), json.Number("+1"),
		[]any(nil), []any{}, map[string]any(nil), map[string]any{}, []string{"b", "a"}, map[string][]int{"x": {1}}, own{B: 1}, &own{A: 1.5}, json.RawMessage(`{"b":1,"a":2}`),
		map[string]any{"b": []any{1, 2.5, nil, own{}}, "\U0001F600": 1, "\ufb33": 2}, deep, []any{deep}, func() {},
	} {
		var want []byte
		raw, err := Marshal(v)
		if err == nil {
			want, err = Canonical(raw)
		}
		got, gotErr := CanonicalOf(v)
		if string(got) != string(want) || (gotErr == nil) != (err == nil) {
			t.Errorf("CanonicalOf(%#v) = %s, %v; want %s, %v", v, got, gotErr, want, err)
		}
	}
}
