// Package docs has the pages for readers, and tests that compare them with the program and with each other. It has no
// code of its own.
package docs
