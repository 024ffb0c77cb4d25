// Package schemas embeds the JSON Schemas of all documents.
//
// All but settings.json are generated from the Go types that they describe, and a
// test compares them. Out of scope: validation.
package schemas

import "embed"

//go:generate go run ./gen/settingtypes
//go:generate go run ./gen

// FS holds the schemas under their file names, such as input.json.
//
//go:embed *.json
var FS embed.FS
