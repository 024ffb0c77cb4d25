package simulatecmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/cli"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/objects"
	"github.com/agent-reviewer/reviewer/cmd/reviewer/term"
	"github.com/agent-reviewer/reviewer/engine/simulate"
)

// inputs is where the sessions are: files, objects, or what a manifest lists.
type inputs struct {
	store  *objects.Access
	stop   context.CancelCauseFunc // ends the run if nothing more can be read
	listed []objects.Input         // of the manifest, or of this shard; nil: there is no manifest
	places []string                // files of the manifest
}

// wholeAbove is the number of shards above which each takes whole objects, even if there
// are fewer than shards. Up to this number, if there are fewer objects than shards, each
// shard inspects all objects and takes its own sessions.
const wholeAbove = 16

// check refuses sources that shards would see differently.
func (in *inputs) check(s *simulation, args []string) error {
	stored := slices.ContainsFunc(args, objects.Is)
	switch {
	case s.manifest != "" && len(args) > 0:
		return cli.Usage("--manifest %s: it lists what is read; leave out %s", s.manifest, args[0])
	case s.shard != "" && stored:
		return cli.Usage("--shard and %s: each shard must read the same objects; write a list of them with "+
			"`reviewer policy simulate manifest %s -o manifest.json`, and use --manifest manifest.json", args[0], args[0])
	}
	return nil
}

// prepare reads the manifest, and refuses outputs that exist.
func (in *inputs) prepare(ctx context.Context, s *simulation) error {
	s.out.Put = in.put(ctx)
	for _, o := range s.out.List {
		if objects.Is(o.File) && s.portion.shard == nil {
			if err := in.store.Free(ctx, o.File); err != nil {
				return err
			}
		}
	}
	if s.manifest == "" {
		return nil
	}
	m, err := in.manifest(ctx, s.manifest)
	if err != nil {
		return &cli.PathError{Path: s.manifest, Err: fmt.Errorf("--manifest %s: %w", s.manifest, err)}
	}
	if in.listed, err = m.Inputs(); err != nil {
		return err
	}
	in.places = filesOf(in.listed)
	if shard := s.portion.shard; shard != nil {
		shard.Manifest = m.Digest()
		if shard.Of > wholeAbove || shard.Of <= countGroups(in.listed) {
			s.portion.whole = true
			in.listed = append([]objects.Input{}, objects.Share(in.listed, shard.Index, shard.Of)...) // never nil
		}
	}
	return nil
}

// manifest reads a manifest from a file or an object.
func (in *inputs) manifest(ctx context.Context, name string) (*objects.Manifest, error) {
	var text []byte
	var err error
	if objects.Is(name) {
		text, err = in.store.Read(ctx, name, objects.MaxManifest)
	} else {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	return objects.ReadManifest(bytes.NewReader(text))
}

// put writes objects; after a Ctrl-C that ended the comparison, the report is still
// written.
func (in *inputs) put(ctx context.Context) term.Put {
	return func(name string, content []byte) (bool, error) {
		if !objects.Is(name) {
			return false, nil
		}
		return true, in.store.Write(context.WithoutCancel(ctx), name, content)
	}
}

// keepable refuses to store an incomplete report of a shard: the complete one could not
// replace it.
func (in *inputs) keepable(s *simulation, sums []*simulate.Impact) error {
	if s.portion.shard == nil || sums[0].Partial == "" {
		return nil
	}
	for _, o := range s.out.List {
		if objects.Is(o.File) {
			return fmt.Errorf("%s was not written: the shard is incomplete: %s", o.File, sums[0].Partial)
		}
	}
	return nil
}

// homes lists the state directories among the sources.
func (in *inputs) homes(args []string) []string {
	if in.listed != nil {
		args = in.places
	}
	var files []string
	for _, arg := range args {
		if l, err := objects.Parse(arg); err == nil {
			if arg = l.Path(); arg == "" {
				continue
			}
		}
		files = append(files, arg)
	}
	list := homesOf(files)
	slices.Sort(list)
	return slices.Compact(list)
}

// filesOf lists the folders of the files of a manifest.
func filesOf(list []objects.Input) []string {
	folders := map[string]bool{}
	var places []string
	for _, in := range list {
		path := in.Path()
		if folder := filepath.Dir(path); path != "" && !folders[folder] {
			folders[folder] = true
			places = append(places, path)
		}
	}
	return places
}
