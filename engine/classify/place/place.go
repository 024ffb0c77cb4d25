package place

// Place returns the real path of an absolute path, with links resolved, and the short form
// that effects of a session with this workspace have (engine.Effect.Short). A path that does
// not exist is used as written.
func (w World) Place(workspace, path string) (real, short string) {
	r := NewResolver(w, workspace, nil)
	real = r.known(path)
	return real, r.short(real)
}

// Named returns the real path of a file by a name relative to a directory; false: it is
// unknown.
func (r *Resolver) Named(name, dir string) (string, bool) {
	full, ok := r.absolute(name, dir)
	if !ok {
		return "", false
	}
	return r.Real(full, dir, true), true
}

// Short returns how effects spell a real path.
func (r *Resolver) Short(real string) string { return r.short(real) }
