package engine

// Label says where data come from. Labels go with what is read: to the output
// of a call, to actions that share a text with such an output, and to the files
// that these write.
type Label string

// The labels.
const (
	LabelUntrusted Label = "untrusted" // written by nobody in the session: pages, answers of services, files fetched
	LabelService   Label = "service"   // ids and places that an answer from elsewhere named; of a service of the repository also branches and addresses of its own
	LabelSecret    Label = "secret"    // read from a credential or env file
)

// Labels lists every Label that policy sees.
func Labels() []string {
	return []string{string(LabelUntrusted), string(LabelService), string(LabelSecret)}
}

// WayOut says how something of a secret that was read reaches another machine
// by an action.
type WayOut string

// The ways out.
const (
	OutText      WayOut = "text"      // the action's own text holds it, as it is or in code
	OutFile      WayOut = "file"      // a file that is sent holds it
	OutWorkspace WayOut = "workspace" // it was committed, or written into the workspace, and goes along with that
)

// WaysOut lists every WayOut.
func WaysOut() []string { return []string{string(OutFile), string(OutText), string(OutWorkspace)} }
