// Package foreign is the way of another tool's policy into an access list: its
// JSON with the line of each value, the list that it becomes, and remarks about
// all that is not the same there.
//
// A format (bundles/safeclaw, bundles/permissions) reads a Value and fills a
// Policy. Where a rule cannot be carried over exactly it is read strictly, and a
// remark says so: a policy that was imported may hold up more than the one it
// was made of; where it could hold up less, a remark says that too.
//
// Not its business: what the other tool's words mean (the formats), and files
// (cmd).
package foreign
