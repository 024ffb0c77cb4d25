// Package operation interprets what an operation of a service does, and to what: by its
// name (delete-db-instance, createRefund, volume_delete), by the path and the body of a
// request, and by a policy document that it is given.
//
// The words that it recognises are lists in the policy's rows.
//
// Out of scope: the services and their clients, and whether an operation may
// be called.
package operation
