package ship

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry/remote"
)

// Someone else's tools read the layout, and bring it into a registry with all
// that belongs to it.
func TestLayoutOfOthers(t *testing.T) {
	dir := t.TempDir()
	p := parcelOf(t, "1.0.0", "1")
	mustPush(t, "oci-layout:"+dir+":stable", p, Options{})
	store, err := oci.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := remote.NewRepository(newRegistry(t, nil) + "/shop")
	if err != nil {
		t.Fatal(err)
	}
	repo.PlainHTTP = true
	if _, err := oras.ExtendedCopy(t.Context(), store, "stable", repo, "copied", oras.DefaultExtendedCopyOptions); err != nil {
		t.Fatal(err)
	}
	sameParcel(t, mustPull(t, "oci://"+repo.Reference.Registry+"/shop:copied", Options{}), p)

	// And the other way around.
	back := filepath.Join(t.TempDir(), "back")
	if store, err = oci.New(back); err != nil {
		t.Fatal(err)
	}
	if _, err := oras.ExtendedCopy(t.Context(), repo, "copied", store, "returned", oras.DefaultExtendedCopyOptions); err != nil {
		t.Fatal(err)
	}
	sameParcel(t, mustPull(t, "oci-layout:"+back+":returned", Options{}), p)
	sameParcel(t, mustPull(t, "oci-layout:"+back, Options{}), p) // the only one
}

func TestLayoutBadInput(t *testing.T) {
	p := parcelOf(t, "1.0.0", "1")
	for name, test := range map[string]struct {
		spoil func(dir string) error
		want  string
	}{
		"no mark":         {func(dir string) error { return os.Remove(filepath.Join(dir, "oci-layout")) }, "is not an OCI layout"},
		"another version": {func(dir string) error { return rewrite(dir, "oci-layout", `{"imageLayoutVersion":"9"}`) }, `of version "9"`},
		"no index":        {func(dir string) error { return os.Remove(filepath.Join(dir, "index.json")) }, "is not an OCI layout"},
		"index of lies":   {func(dir string) error { return rewrite(dir, "index.json", "[]") }, "is not valid"},
		"a huge index":    {func(dir string) error { return rewrite(dir, "index.json", strings.Repeat(" ", 2<<20)) }, "larger than"},
		"a changed archive": {func(dir string) error {
			return rewrite(dir, "blobs/sha256/"+sha(p.Archive), strings.Repeat("x", len(p.Archive)))
		}, "does not match its digest"},
		"a longer archive":   {func(dir string) error { return rewrite(dir, "blobs/sha256/"+sha(p.Archive), string(p.Archive)+"x") }, "larger than"},
		"a lacking archive":  {func(dir string) error { return os.Remove(filepath.Join(dir, "blobs/sha256", sha(p.Archive))) }, "copy it again completely"},
		"a lacking envelope": {func(dir string) error { return os.Remove(filepath.Join(dir, "blobs/sha256", sha(p.Envelope))) }, "copy it again completely"},
		"a link to outside": {func(dir string) error {
			blob := filepath.Join(dir, "blobs/sha256", sha(p.Archive))
			return errors.Join(rewrite(dir, "../outside", string(p.Archive)), os.Remove(blob), os.Symlink("../../../outside", blob))
		}, "escapes"},
		"two releases": {func(dir string) error {
			_, err := Push(t.Context(), mustRef(t, "oci-layout:"+dir+":2"), parcelOf(t, "2.0.0", "2"), Options{})
			return err
		}, "there are 2 releases; name the tag of one: 1, 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "layout")
			mustPush(t, "oci-layout:"+dir+":1", p, Options{})
			if err := test.spoil(dir); err != nil {
				t.Fatal(err)
			}
			_, err := Pull(t.Context(), mustRef(t, "oci-layout:"+dir), Options{}, new(anyOffer).accept)
			wantError(t, err, test.want)
		})
	}
	dir := t.TempDir()
	_, err := Pull(t.Context(), mustRef(t, "oci-layout:"+dir+"/absent:1"), Options{}, new(anyOffer).accept)
	wantError(t, err, "no such folder")
	if err := rewrite(dir, "thesis.txt", "mine"); err != nil {
		t.Fatal(err)
	}
	_, err = Push(t.Context(), mustRef(t, "oci-layout:"+dir+":1"), p, Options{})
	wantError(t, err, "has files but is not an OCI layout")
}

// A blob that was spoilt is fixed by pushing again.
func TestLayoutIsMended(t *testing.T) {
	dir := t.TempDir()
	p := parcelOf(t, "1.0.0", "1")
	place := "oci-layout:" + dir + ":1"
	mustPush(t, place, p, Options{})
	if err := rewrite(dir, "blobs/sha256/"+sha(p.Archive), "half"); err != nil {
		t.Fatal(err)
	}
	if r := mustPush(t, place, p, Options{}); r.Unchanged {
		t.Error("nothing was repaired")
	}
	sameParcel(t, mustPull(t, place, Options{}), p)
}

func rewrite(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}
