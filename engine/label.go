package engine

// Label is the origin of data. Labels propagate with what is read: to the
// output of a call, to actions that share a string with such an output, and to
// the files that these write.
type Label string

// The labels.
const (
	LabelUntrusted Label = "untrusted" // not written by anyone in the session: web pages, responses of services, downloaded files
	LabelService   Label = "service"   // ids and paths in a response from outside; for the repository's service, branches and addresses too
	LabelSecret    Label = "secret"    // read from a credential or env file
)

// Labels lists every Label that policy can read.
func Labels() []string {
	return []string{string(LabelUntrusted), string(LabelService), string(LabelSecret)}
}

// ExfilPath is a way by which part of a secret that was read reaches another
// machine.
type ExfilPath string

// The ways out.
const (
	OutText      ExfilPath = "text"      // the action's own text contains it, literally or encoded
	OutFile      ExfilPath = "file"      // a file that is sent contains it
	OutWorkspace ExfilPath = "workspace" // it was committed, or written into the workspace, and is sent along
)

// ExfilPaths lists every ExfilPath.
func ExfilPaths() []string { return []string{string(OutFile), string(OutText), string(OutWorkspace)} }
