package client

// believed returns why the process at the other end of a socket is not the
// installed program of this user. On macOS the question takes a call into
// a system library, which a static program cannot make: there is no resident process yet.
func believed(int, string) string { return "this system does not say which program serves a socket" }
