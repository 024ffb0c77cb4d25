package cel

// Function describes a function that conditions may call.
type Function struct {
	Name      string // as the language knows it
	Signature string
	About     string // a sentence
	Example   string // a condition that is true
}

// Reference lists every function and macro of the language of conditions.
func Reference() []Function {
	var all []Function
	for _, part := range [][]Function{
		ourFunctions(), macros(), stringFunctions(), listFunctions(), mathFunctions(), conversions(), optionals(), timeFunctions(),
	} {
		all = append(all, part...)
	}
	return all
}

func ourFunctions() []Function {
	return []Function{
		{"under", "under(path, dir) bool, under(path, list) bool, under(effect, …) bool", "The path is dir or under it, as spelled; with a list, " +
			"one of those. An effect may be on dir or on something under it: also if it is on a folder above with everything in it, or if its " +
			"target is a pattern, or only the beginning of it is known, and the fixed parts fit.",
			`under("./src/cart.go", ["./docs", "./src"]) && !action.effects.exists(e, under(e, "./src"))`},
		{"glob", "glob(path, pattern) bool", "The whole path matches; * and ? stop at a slash, ** as a whole segment does not.",
			`glob("/srv/shop/.env", "**/.env*")`},
		{"domain", "domain(host, name) bool", "The host is name or a subdomain of it; case and port are ignored.",
			`domain("api.shop.example:443", "shop.example")`},
		{"sub", "command.sub(word, …) bool", "The subcommands of the command begin with these words; get|list is one of several.",
			`!action.commands.exists(c, c.sub("compose", "down|rm"))`},
		{"verb", "command.verb(list, most) int", "Place, from 1, of the first word after the program that is in the list, or a part of which is " +
			"(cache:flush); 0: none of the first words, of which so many are looked at.",
			`!action.commands.exists(c, c.verb(["flush", "purge"], 3) > 0)`},
		{"reads", "reads(effect) bool", "The effect shows what is in a file, not only its name, size or date.",
			`!action.effects.exists(e, reads(e))`},
	}
}

func macros() []Function {
	return []Function{
		{"has", "has(object.field) bool, command.has(option, …) bool",
			"The optional field is present: reading an absent field without this test is an error. Of a command: one of the options is given, " +
				"however it is written, and is not off.", `!has(event.result) && !action.commands.exists(c, c.has("-f", "--force"))`},
		{"exists", "list.exists(x, condition) bool", "The condition is true for at least one element.", `["a", "bc"].exists(s, size(s) == 2)`},
		{"all", "list.all(x, condition) bool", "The condition is true for every element; true for an empty list.", `[1, 2].all(n, n > 0)`},
		{"exists_one", "list.exists_one(x, condition) bool", "The condition is true for exactly one element.", `[1, 2].exists_one(n, n > 1)`},
		{"filter", "list.filter(x, condition) list", "The elements for which the condition is true.", `[1, 2, 3].filter(n, n > 1) == [2, 3]`},
		{"map", "list.map(x, [condition,] value) list", "The values for all elements, or for those that meet the condition.",
			`[1, 2].map(n, n * 2) == [2, 4]`},
		{"cel.bind", "cel.bind(name, value, expression)", "Names a value that the expression uses more than once.",
			`cel.bind(n, size("abc"), n > 2 && n < 4)`},
	}
}

func stringFunctions() []Function {
	return []Function{
		{"contains", "text.contains(part) bool", "The text contains the part.", `"git push --force".contains("--force")`},
		{"startsWith", "text.startsWith(part) bool", "The text begins with the part.", `"--context=prod".startsWith("--context=")`},
		{"endsWith", "text.endsWith(part) bool", "The text ends with the part.", `"deploy.yml".endsWith(".yml")`},
		{"matches", "text.matches(regex) bool", "The regular expression (RE2) matches part of the text; anchor it with ^ and $.",
			`"release-12".matches("^release-[0-9]+$")`},
		{"lowerAscii", "text.lowerAscii() string", "The text in lower case.", `"Prod".lowerAscii() == "prod"`},
		{"upperAscii", "text.upperAscii() string", "The text in upper case.", `"drop".upperAscii() == "DROP"`},
		{"trim", "text.trim() string", "The text without white space at both ends.", `" a ".trim() == "a"`},
		{"split", "text.split(separator[, limit]) list", "The parts between separators.", `"a/b".split("/") == ["a", "b"]`},
		{"join", "list.join([separator]) string", "The texts of a list joined into one.", `["a", "b"].join("/") == "a/b"`},
		{"replace", "text.replace(old, new[, limit]) string", "The text with occurrences of old replaced.", `"a-b".replace("-", "_") == "a_b"`},
		{"substring", "text.substring(start[, end]) string", "The characters from start up to end.", `"prod-eu".substring(0, 4) == "prod"`},
		{"charAt", "text.charAt(index) string", "The character at the index.", `"prod".charAt(0) == "p"`},
		{"indexOf", "text.indexOf(part[, from]) int", "The index of the first occurrence, -1 if there is none.", `"a=b".indexOf("=") == 1`},
		{"lastIndexOf", "text.lastIndexOf(part[, from]) int", "The index of the last occurrence, -1 if there is none.",
			`"a/b/c".lastIndexOf("/") == 3`},
		{"reverse", "text.reverse() string, list.reverse() list", "The characters or elements in reverse order.", `"abc".reverse() == "cba"`},
		{"format", "text.format(list) string", "The text with %s, %d, %f … filled in.", `"%d of %d".format([3, 10]) == "3 of 10"`},
		{"strings.quote", "strings.quote(text) string", "The text in quotes, special characters escaped.", `strings.quote("a") == "\"a\""`},
	}
}

func listFunctions() []Function {
	return []Function{
		{"in", "value in list, key in map", "The list has the element, or the map the key.", `"main" in ["main", "release"]`},
		{"size", "size(value) int", "The length of a string, list or map.", `size(action.effects) == 0`},
		{"distinct", "list.distinct() list", "The elements, each once.", `["a", "a"].distinct() == ["a"]`},
		{"first", "list.first() optional", "The first element, if there is one.", `["a", "b"].first().orValue("") == "a"`},
		{"last", "list.last() optional", "The last element, if there is one.", `["a", "b"].last().orValue("") == "b"`},
		{"slice", "list.slice(start, end) list", "The elements from start up to end.", `[1, 2, 3].slice(0, 2) == [1, 2]`},
		{"sort", "list.sort() list", "The elements in order.", `[2, 1].sort() == [1, 2]`},
		{"sortBy", "list.sortBy(x, key) list", "The elements in the order of their keys.", `["bb", "a"].sortBy(s, size(s)) == ["a", "bb"]`},
		{"flatten", "list.flatten([depth]) list", "The elements of the lists in a list.", `[[1], [2]].flatten() == [1, 2]`},
		{"lists.range", "lists.range(n) list", "The numbers from 0 up to n.", `lists.range(3) == [0, 1, 2]`},
		{"sets.contains", "sets.contains(list, part) bool", "The list has all elements of the part.", `sets.contains(["a", "b"], ["b"])`},
		{"sets.intersects", "sets.intersects(a, b) bool", "The lists have an element in common.", `sets.intersects(["a"], ["a", "b"])`},
		{"sets.equivalent", "sets.equivalent(a, b) bool", "The lists have the same elements.", `sets.equivalent(["a", "b"], ["b", "a", "a"])`},
	}
}

func mathFunctions() []Function {
	return []Function{
		{"math.greatest", "math.greatest(a, b, …) number", "The largest of some numbers, or of a list.", `math.greatest(1, 3, 2) == 3`},
		{"math.least", "math.least(a, b, …) number", "The smallest of some numbers, or of a list.", `math.least(0.6, 1.0) == 0.6`},
		{"math.abs", "math.abs(n) number", "The absolute value.", `math.abs(-2) == 2`},
		{"math.sign", "math.sign(n) number", "-1, 0 or 1.", `math.sign(-2) == -1`},
		{"math.ceil", "math.ceil(x) double", "The number rounded up to a whole number.", `math.ceil(1.2) == 2.0`},
		{"math.floor", "math.floor(x) double", "The number rounded down to a whole number.", `math.floor(1.8) == 1.0`},
		{"math.round", "math.round(x) double", "The nearest whole number.", `math.round(1.5) == 2.0`},
		{"math.trunc", "math.trunc(x) double", "The number without its fraction.", `math.trunc(-1.5) == -1.0`},
		{"math.sqrt", "math.sqrt(x) double", "The square root.", `math.sqrt(9.0) == 3.0`},
		{"math.isNaN", "math.isNaN(x) bool", "The value is not a number.", `!math.isNaN(1.0)`},
		{"math.isInf", "math.isInf(x) bool", "The number is infinite.", `!math.isInf(1.0)`},
		{"math.isFinite", "math.isFinite(x) bool", "The number is finite.", `math.isFinite(1.0)`},
		{"math.bitAnd", "math.bitAnd(a, b) int", "The bits that both numbers have.", `math.bitAnd(6, 3) == 2`},
		{"math.bitOr", "math.bitOr(a, b) int", "The bits that at least one of the numbers has.", `math.bitOr(6, 1) == 7`},
		{"math.bitXor", "math.bitXor(a, b) int", "The bits that exactly one of the numbers has.", `math.bitXor(6, 3) == 5`},
		{"math.bitNot", "math.bitNot(n) int", "The number with all bits inverted.", `math.bitNot(0) == -1`},
		{"math.bitShiftLeft", "math.bitShiftLeft(n, by) int", "The bits shifted to the left.", `math.bitShiftLeft(1, 3) == 8`},
		{"math.bitShiftRight", "math.bitShiftRight(n, by) int", "The bits shifted to the right.", `math.bitShiftRight(8, 3) == 1`},
	}
}

func conversions() []Function {
	return []Function{
		{"string", "string(value) string", "The value as text.", `string(3) == "3"`},
		{"int", "int(value) int", "The value as a whole number; a fraction is cut off; an error for text that is not a number.", `int("3") == 3`},
		{"uint", "uint(value) uint", "The value as a non-negative whole number.", `uint(3) == 3u`},
		{"double", "double(value) double", "The value as a number with a fraction: measure and confidence often need it.", `double(1) / 2.0 == 0.5`},
		{"bool", "bool(text) bool", `The texts "true" and "false" as a bool.`, `bool("true")`},
		{"bytes", "bytes(text) bytes", "The bytes of a string.", `size(bytes("é")) == 2`},
		{"type", "type(value) type", "The type of a value, such as an argument's.", `type("a") == string`},
	}
}

func optionals() []Function {
	return []Function{
		{"orValue", "map[?key].orValue(value)", "The value of a key that may be absent, or else another value: reading with [?key] or .?field is not an error.",
			`history.fired[?"shop.flailing"].optMap(f, f.ago).orValue(1000) == 1000`},
		{"hasValue", "optional.hasValue() bool", "There is a value.", `!history.fired[?"shop.flailing"].hasValue()`},
		{"value", "optional.value()", "The value; an error if there is none.", `optional.of(1).value() == 1`},
		{"or", "optional.or(other) optional", "The optional value, or else another optional value.", `optional.none().or(optional.of(1)).value() == 1`},
		{"optMap", "optional.optMap(x, value) optional", "The result of the expression for the value, if there is one.", `optional.of(1).optMap(n, n + 1).value() == 2`},
		{"optFlatMap", "optional.optFlatMap(x, optional) optional", "Like optMap, for an expression whose result is optional.",
			`optional.of([1]).optFlatMap(l, l.first()).value() == 1`},
		{"optional.of", "optional.of(value) optional", "An optional with this value.", `optional.of(1).hasValue()`},
		{"optional.ofNonZeroValue", "optional.ofNonZeroValue(value) optional", "There is a value unless it is empty, 0 or false.",
			`!optional.ofNonZeroValue("").hasValue()`},
		{"optional.none", "optional.none() optional", "No value.", `!optional.none().hasValue()`},
		{"optional.unwrap", "optional.unwrap(list) list", "The values of a list of optional values.", `optional.unwrap([optional.of(1)]) == [1]`},
		{"unwrapOpt", "list.unwrapOpt() list", "The same as optional.unwrap.", `[optional.of(1)].unwrapOpt() == [1]`},
	}
}

func timeFunctions() []Function {
	list := []Function{
		{"timestamp", "timestamp(text) timestamp", "A time, RFC 3339. The time of the event is in time.ms, time.hour, …",
			`timestamp("2026-03-02T09:00:00Z") < timestamp("2026-03-02T10:00:00Z")`},
		{"duration", "duration(text) duration", "A duration, such as 5m.", `duration("5m") == duration("300s")`},
	}
	for _, part := range []struct{ name, about, value string }{
		{"getFullYear", "The year.", "2026"}, {"getMonth", "The month, 0 to 11.", "2"}, {"getDate", "The day of the month, 1 to 31.", "2"},
		{"getDayOfMonth", "The day of the month, 0 to 30.", "1"}, {"getDayOfWeek", "The day of the week, 0 is Sunday.", "1"},
		{"getDayOfYear", "The day of the year, 0 to 365.", "60"}, {"getHours", "The hour, or the hours of a duration.", "9"},
		{"getMinutes", "The minute, or the minutes of a duration.", "30"}, {"getSeconds", "The second, or the seconds of a duration.", "15"},
		{"getMilliseconds", "The milliseconds.", "0"},
	} {
		list = append(list, Function{part.name, "timestamp." + part.name + "() int", part.about,
			`timestamp("2026-03-02T09:30:15Z").` + part.name + "() == " + part.value})
	}
	return list
}
