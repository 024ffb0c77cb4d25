// Package pages writes what agents did as web pages: today, sessions, single records, questions that wait, the policy, and
// searches. The same pages are served live and written to files.
//
// A page is made of values alone. Every text is escaped by html/template, and characters that are invisible, or look like others,
// are marked. Pages load nothing from elsewhere, and can be read without their script.
//
// Out of scope: reading the log (cmd/reviewer/uicmd) and serving (engine/serve/pageserver).
package pages
