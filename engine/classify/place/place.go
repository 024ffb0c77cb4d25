package place

// Place returns the real path of an absolute path, links resolved, and how the
// effects of a session with this workspace spell it (engine.Effect.Short). What
// is not there is taken as written.
func (w World) Place(workspace, path string) (real, short string) {
	r := NewResolver(w, workspace, nil)
	real = r.known(path)
	return real, r.short(real)
}

// Named returns the real path of a file by the name that someone gives it in a
// directory; false: it cannot be known.
func (r *Resolver) Named(name, dir string) (string, bool) {
	full, ok := r.absolute(name, dir)
	if !ok {
		return "", false
	}
	return r.Real(full, dir, true), true
}

// Short returns how effects spell a real path.
func (r *Resolver) Short(real string) string { return r.short(real) }
