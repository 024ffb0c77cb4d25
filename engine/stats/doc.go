// Package stats computes statistics of a log: calls by answer, review times, people's answers,
// the rules and patterns that fired, and interventions.
//
// A Collector reads the records of one session after the other, once each, and makes a
// Document of them. Its memory does not grow with the length of a session, and with the number
// of different names only up to fixed bounds: further names are counted under Other. The same
// records give the same document.
//
// Metrics describes the part of a document that is written for Prometheus; Dashboard and
// MetricsDoc are made from that table.
//
// Out of scope: where records come from and whether they verify (engine/audit), what they mean
// (engine), and tables on a terminal (cmd).
package stats
