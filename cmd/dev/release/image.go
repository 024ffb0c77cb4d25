package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser is an unprivileged user.
const imageUser = 65532

// imageHome is where the user of an image keeps state.
const imageHome = "/home/reviewer"

// writeImage writes one image for all targets of Linux as an OCI layout, and a tar of it.
func (r *release) writeImage(d *folder, built []build) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	n := 0
	for i := range built {
		if built[i].os != "linux" {
			continue
		}
		image, err := r.image(&built[i])
		if err != nil {
			return err
		}
		n++
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: built[i].arch}}})
	}
	if n == 0 {
		_, err := fmt.Fprintln(d.log, "no container image: no Linux target was built")
		return err
	}
	files, err := r.layout(index)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := d.add("oci/"+f.name, f.content); err != nil {
			return err
		}
	}
	content, err := tarOf(files, r.time)
	if err != nil {
		return err
	}
	return d.add("reviewer_"+r.version+"_oci.tar", content)
}

// layout is a folder with the index, tagged with the version, and all that it names.
func (r *release) layout(index v1.ImageIndex) ([]file, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return nil, err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})); err != nil {
		return nil, err
	}
	var files []file
	err = filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(dir, name)
		files = append(files, file{filepath.ToSlash(short), 0o644, content})
		return err
	})
	return sorted(files), err
}

// image builds an image with only the programs, the licences and an empty home.
func (r *release) image(b *build) (v1.Image, error) {
	content, err := r.imageTar(b)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: module + "/cmd/dev/release"}})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, r.imageConfig(image, b))
}

func (r *release) imageConfig(image v1.Image, b *build) *v1.ConfigFile {
	config, err := image.ConfigFile()
	if err != nil {
		config = &v1.ConfigFile{}
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", b.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", imageUser, imageUser), WorkingDir: imageHome, Env: []string{"HOME=" + imageHome, "PATH=/usr/bin"},
		Entrypoint: []string{"/usr/bin/" + b.programs[0].name}, Cmd: []string{"version"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "reviewer", "org.opencontainers.image.description": summary,
			"org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.source": website, "org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.created": r.time.Format(time.RFC3339),
		},
	}
	return config
}

// imageTar is the one layer. The program starts no other program and opens no
// connection of its own accord, so the image has neither a shell nor a list of
// certificate authorities.
func (r *release) imageTar(b *build) ([]byte, error) {
	var files []file
	for _, p := range b.programs {
		files = append(files, file{"usr/bin/" + p.name, 0o755, p.content})
	}
	files = append(files, under("usr/share/doc/reviewer", b.texts)...)
	content, err := tarOf(files, r.time)
	if err != nil {
		return nil, err
	}
	// A tar ends with two empty blocks and padding.
	var own bytes.Buffer
	w := tar.NewWriter(&own)
	for _, h := range []*tar.Header{
		{Typeflag: tar.TypeDir, Name: "home/", Mode: 0o755, ModTime: r.time},
		{Typeflag: tar.TypeDir, Name: "home/reviewer/", Mode: 0o700, Uid: imageUser, Gid: imageUser, ModTime: r.time},
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777, ModTime: r.time},
	} {
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return append(own.Bytes(), content...), nil
}
