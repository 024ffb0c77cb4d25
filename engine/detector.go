package engine

// Place says where a text stood that a detector looks into.
type Place string

// The places. Before a call there are arguments and contents, after it results.
const (
	PlaceArguments Place = "arguments" // texts of the tool's input that are no contents: commands, paths, queries
	PlaceContents  Place = "contents"  // texts that the tool writes, sends or hands on
	PlaceResults   Place = "results"   // what came back, errors too
)

// Places lists every Place.
func Places() []string {
	return []string{string(PlaceArguments), string(PlaceContents), string(PlaceResults)}
}

// Bounds of what detectors may say, since a record's line is bounded.
const (
	MaxDetected   = 12 // ids in one record
	MaxDetectorID = 40 // bytes of an id
)
