// Package foreign contains the code that importers of other tools' policies share: JSON with the
// line of each value, the resulting access list, and remarks about everything that
// is not equivalent.
//
// A format (bundles/safeclaw, bundles/permissions) reads a Value and fills a
// Policy. Where a rule cannot be converted exactly it is read strictly, and a
// remark says so: an imported policy may hold up more calls than the original; where
// it could hold up fewer, a remark says that too.
//
// Out of scope: what the other tool's words mean (the formats), and files
// (cmd).
package foreign
