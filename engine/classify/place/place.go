package place

// Place returns the real path of an absolute path, links resolved, and how the
// effects of a session with this workspace spell it (engine.Effect.Short). What
// is not there is taken as written.
func (w World) Place(workspace, path string) (real, short string) {
	r := NewResolver(w, workspace, nil)
	real = r.known(path)
	return real, r.short(real)
}
