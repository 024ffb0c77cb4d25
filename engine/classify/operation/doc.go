// Package operation interprets the names of service operations, such as
// delete-db-instance, createRefund or volume_delete: what is done, and to what.
//
// The words that it recognises are lists in the policy's rows.
//
// Out of scope: the services and their clients, and whether an operation may
// be called.
package operation
