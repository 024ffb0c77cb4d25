package approvalscmd

import "os"

// suspensions returns nothing: a console has no job control.
func suspensions() []os.Signal { return nil }

func suspend() {}

func continues(os.Signal) bool { return false }
