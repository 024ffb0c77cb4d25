package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"path"
	"slices"
	"strings"
	"time"
)

func (r *release) archiveName(t target) string {
	if t.os == "windows" {
		return r.name(t) + ".zip"
	}
	return r.name(t) + ".tar.gz"
}

// archive writes a tar, or a zip for Windows, with one folder that contains
// everything.
func (r *release) archive(b *build) ([]byte, error) {
	files := slices.Concat(b.programs, b.texts)
	names := map[string]string{"bash": "reviewer.bash", "fish": "reviewer.fish", "powershell": "reviewer.ps1", "zsh": "_reviewer"}
	for _, shell := range shells() {
		files = append(files, file{"completions/" + names[shell], 0o644, b.common.completions[shell]})
	}
	for _, page := range b.common.pages {
		files = append(files, file{"man/man1/" + page.name, 0o644, page.content})
	}
	for i := range files {
		files[i].name = path.Join(r.name(b.target), files[i].name)
	}
	if b.os == "windows" {
		return zipOf(files, r.time)
	}
	return tarGzip(files, r.time)
}

// sorted orders files by name, so that archives are reproducible.
func sorted(files []file) []file {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files
}

func tarGzip(files []file, when time.Time) ([]byte, error) {
	content, err := tarOf(files, when)
	if err != nil {
		return nil, err
	}
	return gzipOf(content)
}

// tarOf writes files with their folders, which come before what is in them. Everything
// belongs to root.
func tarOf(files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	made := map[string]bool{".": true, "/": true, "./": true}
	for _, f := range sorted(files) {
		for _, dir := range parents(f.name) {
			if made[dir] {
				continue
			}
			made[dir] = true
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: when}); err != nil {
				return nil, err
			}
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: when}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// parents are the folders that a file is in, the outermost first.
func parents(name string) []string {
	var dirs []string
	for i, c := range name {
		if c == '/' && i > 0 {
			dirs = append(dirs, name[:i])
		}
	}
	return dirs
}

func gzipOf(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

func zipOf(files []file, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range sorted(files) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when.UTC()}
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
