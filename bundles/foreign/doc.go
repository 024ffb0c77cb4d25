// Package foreign contains the code that importers of other tools' policies share: JSON with the
// line of each value, the resulting access list, and remarks about everything that
// is not equivalent.
//
// A format (bundles/safeclaw, bundles/permissions) reads a Value and fills a
// Policy. A rule that cannot be converted exactly is left out, with a remark: an
// imported rule never matches more calls than the original.
//
// Out of scope: what the other tool's words mean (the formats), and files
// (cmd).
package foreign
