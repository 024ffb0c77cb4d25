package checkpoint

import "context"

// Diff returns the differences of the workspace between two checkpoints.
func (s *Store) Diff(from, to Checkpoint) ([]Change, error) {
	before, err := s.state(&from)
	if err != nil {
		return nil, err
	}
	after, err := s.state(&to)
	if err != nil {
		return nil, err
	}
	return compare(before, after), nil
}

// Changes returns the changes between the previous checkpoint and this one.
func (s *Store) Changes(c Checkpoint) ([]Change, error) {
	if c.N == 1 {
		after, err := s.state(&c)
		return compare(nil, after), err
	}
	before := c
	before.N--
	return s.Diff(before, c)
}

// DiffNow returns the differences between a checkpoint and the current workspace. Nothing is
// stored: the contents of the second entries are those of the files on disk.
func (s *Store) DiffNow(ctx context.Context, from Checkpoint) (changes []Change, err error) {
	err = s.locked(ctx, func() error {
		before, err := s.state(&from)
		if err != nil {
			return err
		}
		after, _, err := s.present(ctx, before)
		changes = compare(before, after)
		return err
	})
	return changes, err
}

// present returns the state of the workspace now, without storing contents, and what
// changed since the newest checkpoint. Outside the workspace, it looks at the paths of
// another state, too.
func (s *Store) present(ctx context.Context, other tree) (now tree, since []Change, err error) {
	head, err := s.head()
	if err != nil {
		return nil, nil, err
	}
	known, indexed, err := s.known(head)
	if err != nil {
		return nil, nil, err
	}
	w, err := s.look(ctx, Request{First: other.away(), Within: wholeFolders(other, nil)}, head, known, indexed)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range s.admit(w.tree, nil, s.beyond(other)) {
		contents, err := s.contents(i)
		if err != nil {
			i.leave(whyUnread + reason(err))
			continue
		}
		i.Sealed = s.sealed != nil && s.sealed(s.absolute(i.Path))
		i.Digest = s.objects.keys.digest(contents, i.Sealed)
	}
	w.tree.group()
	if s.interrupted() == nil { // else a restore that was cut off made the changes
		since = compare(known, w.tree)
		since = withoutReadNow(since, since)
	}
	return w.tree, since, nil
}

// Contents returns the contents of a file according to an entry of a checkpoint.
func (s *Store) Contents(e *Entry) ([]byte, error) { return s.objects.get(e.Digest) }

// ContentsNow returns the contents of a file of the workspace.
func (s *Store) ContentsNow(path string) ([]byte, error) {
	dir, name := split(path)
	root, err := s.openDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.ReadFile(name)
}

// Entries returns the files of the workspace at a checkpoint, sorted by folder and name.
func (s *Store) Entries(c Checkpoint) ([]Entry, error) {
	t, err := s.state(&c)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, dir := range t.folders() {
		for i := range t[dir] {
			list = append(list, t[dir][i].Entry)
		}
	}
	return list, nil
}
