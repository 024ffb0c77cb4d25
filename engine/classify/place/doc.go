// Package place says what a path is: where it lies, what kind of file it is
// (a credential, a setting of the guard, generated output…), what version control
// knows of it, and what a raw effect does there. The machine is seen only through
// World, of which each part may be missing.
//
// Not its business: the commands that name a path, and whether an effect is
// allowed. It changes nothing on the disk and never runs git.
package place
