// Package sql reads scripts of several dialects of SQL, as far as it takes to say
// what they destroy, which files they read and write, and which commands they run.
//
// Not its business: the clients that send a script, and the database that it is
// sent to.
package sql
