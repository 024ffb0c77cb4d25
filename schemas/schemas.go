// Package schemas holds the JSON Schemas of every document, embedded.
//
// All but settings.json are generated from the Go types that they describe;
// a test compares. Not its business: validating anything.
package schemas

import "embed"

//go:generate go run ./gen

// FS holds the schemas under their file names, such as input.json.
//
//go:embed *.json
var FS embed.FS
