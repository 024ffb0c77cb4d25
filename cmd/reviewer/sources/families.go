package sources

import (
	"cmp"
	"path/filepath"
	"slices"
)

// comparePlaces orders places by path and offset.
func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.off, b.off))
}

// groups joins numbers to groups.
type groups []int

func newGroups(n int) groups {
	g := make(groups, n)
	for i := range g {
		g[i] = i
	}
	return g
}

func (g groups) of(i int) int {
	for g[i] != i {
		g[i] = g[g[i]]
		i = g[i]
	}
	return i
}

func (g groups) join(a, b int) {
	a, b = g.of(a), g.of(b)
	g[max(a, b)] = min(a, b)
}

// mention is something that a file names.
type mention struct {
	what uint64
	by   int
}

// joinMentions joins those that name the same thing.
func (g groups) joinMentions(list []mention) {
	slices.SortFunc(list, func(a, b mention) int {
		return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.by, b.by))
	})
	for i := 1; i < len(list); i++ {
		if list[i].what == list[i-1].what {
			g.join(list[i].by, list[i-1].by)
		}
	}
}

// transcriptFamilies groups transcripts twice: files of the same session, which
// are read at once, and sessions of which one was made out of the other.
func (f *finder) transcriptFamilies() []Family {
	all := f.transcripts
	slices.SortFunc(all, comparePlaces)
	same, kin := newGroups(len(all)), newGroups(len(all))
	var ids, shared []mention
	for i := range all {
		all[i].head.named(all[i].name)
		for _, id := range all[i].head.sessions {
			ids = append(ids, mention{digest(id), i})
			shared = append(shared, mention{digest(id), i})
		}
		for _, link := range all[i].head.links {
			shared = append(shared, mention{link, i})
		}
		all[i].head.links = nil
	}
	shared = append(shared, f.parents(all)...)
	same.joinMentions(ids)
	kin.joinMentions(shared)
	sessions := map[int][]place{}
	for i, p := range all {
		sessions[same.of(i)] = append(sessions[same.of(i)], p)
	}
	families := map[int]*Family{}
	for i := range all {
		if places := sessions[i]; len(places) > 0 {
			at := kin.of(i)
			if families[at] == nil {
				families[at] = &Family{options: f.options}
			}
			families[at].kin = append(families[at].kin, places)
		}
	}
	list := make([]Family, 0, len(families))
	for _, one := range families {
		one.arrange()
		list = append(list, *one)
	}
	return list
}

// parents looks for the files that orphans are copies of: files are read whole
// only for orphans, and only in their folders.
func (f *finder) parents(all []place) []mention {
	orphans := map[string]map[string]bool{}
	for _, p := range all {
		if p.head.orphan != "" {
			folder := filepath.Dir(p.name)
			if orphans[folder] == nil {
				orphans[folder] = map[string]bool{}
			}
			orphans[folder][p.head.orphan] = true
		}
	}
	var found []mention
	for i, p := range all {
		wanted := orphans[filepath.Dir(p.name)]
		if len(wanted) == 0 || p.file.in != nil || f.ctx.Err() != nil {
			continue
		}
		for id := range f.idsAmong(p, wanted) {
			found = append(found, mention{digest(id), i})
		}
	}
	return found
}

// idsAmong returns which of the wanted ids lines of a file have. Errors are reported
// when its sessions are read.
func (f *finder) idsAmong(p place, wanted map[string]bool) map[string]bool {
	found := map[string]bool{}
	r, err := p.open(f.ctx, Options{})
	if err != nil {
		return found
	}
	defer r.Close()
	buffer := make([]byte, 256<<10)
	kept := 0
	for err == nil {
		var n int
		n, err = r.Read(buffer[kept:])
		text := buffer[:kept+n]
		for _, id := range values(text, "uuid", len(text)) {
			if wanted[id] {
				found[id] = true
			}
		}
		kept = copy(buffer, text[len(text)-min(len(text), 2*maxID):]) // an id may be split
	}
	return found
}

// arrange sorts the sessions of a family by their ids. The original of two copies is
// unknown; some agents' ids grow with time.
func (f *Family) arrange() {
	slices.SortFunc(f.kin, func(a, b []place) int {
		return cmp.Or(cmp.Compare(smallest(a), smallest(b)), comparePlaces(a[0], b[0]))
	})
	for _, places := range f.kin {
		for _, p := range places {
			f.Sessions = append(f.Sessions, idsOf(p)...)
		}
	}
	slices.Sort(f.Sessions)
	f.Sessions = slices.Compact(f.Sessions)
	f.Session = f.Sessions[0]
}

func smallest(places []place) string {
	least := ""
	for i, p := range places {
		if id := slices.Min(idsOf(p)); i == 0 || id < least {
			least = id
		}
	}
	return least
}

// idsOf lists the sessions of a file; one that names none has the file's name.
func idsOf(p place) []string {
	if len(p.head.sessions) > 0 {
		return p.head.sessions
	}
	return []string{fileSession(p.name)}
}
