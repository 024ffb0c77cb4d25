// Package sql parses scripts in several dialects of SQL, as far as needed to determine what
// they destroy, which files they read and write, and which commands
// they run.
//
// Out of scope: the clients that send a script, and the database that
// receives it.
package sql
