package classify

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/place"
)

// Lists of names in JavaScript that runs in a browser page.
const (
	pageSends   = "page.sends"
	pageLeads   = "page.leads"
	pageStorage = "page.storage"
	pageHides   = "page.hides"
)

// The objects of effects of code in a page.
const (
	objectPage    = "page"            // the page sends something
	objectStorage = "browser storage" // cookies and the storage of sites
)

var (
	pageName = engine.Regexp(`[A-Za-z_$][\w$]*`)
	// A call with a plain text as its only argument.
	pageFetch = engine.Regexp("\\bfetch\\s*\\(\\s*(?:'([^'\\\\\n]*)'|\"([^\"\\\\\n]*)\"|`([^`$\\\\]*)`)\\s*[,)]")
	// Code that builds names, or accesses one that is not written out.
	pageBuilt = engine.Regexp("\\\\[xu0-7]|['\"`]\\s*\\+\\s*['\"`]|\\$\\{\\s*['\"`]|" +
		`\b(window|self|globalThis|top|parent|frames|document|navigator|location|this)\s*(\?\.)?\s*\[|` +
		`\b(defaultView|contentWindow|ownerDocument)\s*(\?\.)?\s*\[|` +
		`=\s*(window|self|globalThis|top|parent|frames)\s*($|[;,\n)\]}])|[(,]\s*(window|self|globalThis|top|frames)\s*[,)]`)
)

// isBrowser reports whether a tool runs code in a browser page, judging by its name.
func (r *toolReader) isBrowser() bool {
	low := strings.ToLower(r.name)
	return slices.ContainsFunc(r.in.Rows.Words("servers.browsers"), func(w string) bool { return strings.Contains(low, w) })
}

// page reads JavaScript that runs in a browser page: it can access the page, and no file of
// this machine. Names are searched for in the text as written, also in strings and comments;
// code that builds names is not understood.
func (r *toolReader) page(key, text string) {
	r.contents[key] = text
	names := map[string]bool{}
	for _, name := range pageName().FindAllString(text, -1) {
		names[name] = true
	}
	if pageBuilt().MatchString(text) || r.anyOf(pageHides, names) {
		r.opaque("code", key)
	}
	if r.anyOf(pageStorage, names) {
		r.add(abstract.RawEffect{Kind: engine.EffectProcess, Verb: "read", Object: objectStorage, Target: abstract.Value{Text: r.server()}})
	}
	if r.anyOf(pageSends, names) || r.leads(text) {
		r.sendsFromPage(abstract.Value{Sure: abstract.Unknown})
	}
	if names["fetch"] {
		r.fetchesInPage(text, names["method"] || names["body"])
	}
}

func (r *toolReader) anyOf(list string, names map[string]bool) bool {
	return slices.ContainsFunc(r.in.Rows.Words(list), func(w string) bool { return names[w] })
}

// pageLocation is a variable, not only a property: assigning to it loads a page.
const pageLocation = "location"

// leads reports whether something is assigned to a property that makes the page load or show
// it, or whether a style names an address.
func (r *toolReader) leads(text string) bool {
	if strings.Contains(text, "url(") {
		return true
	}
	for _, name := range r.in.Rows.Words(pageLeads) {
		for rest := text; ; {
			at := strings.Index(rest, name)
			if at < 0 {
				break
			}
			before := name == pageLocation && (at == 0 || !wordByte(rest[at-1])) || at > 0 && strings.IndexByte(".'\"`", rest[at-1]) >= 0
			rest = rest[at+len(name):]
			if before && (rest == "" || !wordByte(rest[0])) && assigned(rest) {
				return true
			}
		}
	}
	return false
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// assigned reports whether the expression before a string is assigned to: as the target of an
// assignment, in a pattern or by a loop.
func assigned(rest string) bool {
	rest = strings.TrimLeft(rest, " \t\r\n)]}'\"`")
	for _, op := range []string{"+", "||", "??", "&&"} {
		if strings.HasPrefix(rest, op+"=") {
			return true
		}
	}
	return strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") && !strings.HasPrefix(rest, "=>") ||
		strings.HasPrefix(rest, "of ") || strings.HasPrefix(rest, "in ")
}

// fetchesInPage handles requests of the page. A request to a path of its own site that sends
// nothing only reads; if the address is not written out, it may send data.
func (r *toolReader) fetchesInPage(text string, sends bool) {
	calls := pageFetch().FindAllStringSubmatch(text, -1)
	if len(calls) < strings.Count(text, "fetch") {
		r.sendsFromPage(abstract.Value{Sure: abstract.Unknown})
		return
	}
	for _, c := range calls {
		url := c[1] + c[2] + c[3]
		switch {
		case abstract.WebURL(url):
			r.sendsFromPage(abstract.Value{Text: url})
		case sends || strings.Contains(url, ":") || strings.HasPrefix(url, "//") || strings.HasPrefix(url, `\`):
			r.sendsFromPage(abstract.Value{Sure: abstract.Unknown})
		}
	}
}

func (r *toolReader) sendsFromPage(to abstract.Value) {
	here := place.Loopback(place.HostOf(to))
	r.add(abstract.RawEffect{Kind: engine.EffectNetwork, Verb: "send", Object: objectPage, Egress: !here, Target: to})
}
