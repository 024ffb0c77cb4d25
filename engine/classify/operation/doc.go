// Package operation reads the names of operations of services, such as
// delete-db-instance, createRefund or volume_delete: what the name says that is
// done, and to what.
//
// The words by which it reads are lists of the policy's rows.
//
// Not its business: the services and their clients, and whether an operation may
// be called.
package operation
