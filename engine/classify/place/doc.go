// Package place describes paths: the location, the kind of file (a credential,
// a setting of the guard, generated output…), the state in version control, and
// what a raw effect does there. It accesses the machine only through World, any
// part of which may be missing.
//
// Out of scope: the commands that name a path, and whether an effect is
// allowed. It changes nothing on the disk and never runs git.
package place
