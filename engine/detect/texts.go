package detect

import "github.com/agent-reviewer/reviewer/engine"

// text is one string of a call.
type text struct {
	text   string
	places []engine.Place
}

var (
	before = []engine.Place{engine.PlaceArguments, engine.PlaceContents}
	after  = []engine.Place{engine.PlaceResults}
)

// PlacesOf lists the places of texts in an event. A call's arguments are
// examined before it runs; the event after it contains them again.
func PlacesOf(p engine.Phase) []engine.Place {
	switch p {
	case engine.PhasePre:
		return before
	case engine.PhasePost:
		return after
	}
	return nil
}

func (s *Set) texts(e engine.Event) []text {
	if e.Phase == engine.PhasePre {
		return jsonTexts(e.Args, before, func(name string) []engine.Place { return s.places(e.Tool, name) })
	}
	if e.Result == nil {
		return nil
	}
	list := jsonTexts(e.Result.Output, after, func(string) []engine.Place { return after })
	if e.Result.Error != "" {
		list = append(list, text{e.Result.Error, after})
	}
	return list
}

// jsonTexts returns the strings of a document, in an order that may change from
// one call to the next. What is not a document is one string, in all places.
func jsonTexts(raw []byte, all []engine.Place, placesOf func(name string) []engine.Place) []text {
	if len(raw) == 0 {
		return nil
	}
	v, err := engine.DecodeStrict(raw)
	if err != nil {
		return []text{{string(raw), all}}
	}
	return appendTexts(nil, v, "", placesOf)
}

// appendTexts assigns the items of a list the place of the list. Keys are texts
// too: code that fills a map may write anything there.
func appendTexts(list []text, v any, name string, placesOf func(string) []engine.Place) []text {
	switch v := v.(type) {
	case string:
		return append(list, text{v, placesOf(name)})
	case []any:
		for _, item := range v {
			list = appendTexts(list, item, name, placesOf)
		}
	case map[string]any:
		for key, item := range v {
			list = append(list, text{key, placesOf(key)})
			list = appendTexts(list, item, key, placesOf)
		}
	}
	return list
}
