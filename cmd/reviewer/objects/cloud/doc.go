// Package cloud opens buckets of S3, Google Cloud Storage and Azure Blob Storage.
//
// The libraries more than double the program, and every hook would load them. So they
// are only included with the build tag cloud; without it, Open returns ErrNotBuilt.
//
// Out of scope: which objects are read, and what is in them. It reads credentials where
// the libraries of the stores do (environment, files, instance), and stores none.
package cloud

import "errors"

// ErrNotBuilt is the error of Open in a program without the libraries.
var ErrNotBuilt = errors.New("this reviewer was built without object stores; build one that has them with " +
	"`go build -tags cloud ./cmd/reviewer`, or copy the objects to a folder and name that")
