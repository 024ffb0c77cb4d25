package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/rpmpack"
)

const maintainer = "The reviewer authors"

// installed are the files of a package at the places where Linux looks for them. The
// distributions differ in the folder for zsh.
func (r *release) installed(b *build, zsh string) ([]file, error) {
	var files []file
	for _, p := range b.programs {
		files = append(files, file{"usr/bin/" + p.name, 0o755, p.content})
	}
	for _, t := range b.texts {
		files = append(files, file{path.Join("usr/share/doc/reviewer", t.name), 0o644, t.content})
	}
	places := map[string]string{
		"bash": "usr/share/bash-completion/completions/reviewer",
		"fish": "usr/share/fish/vendor_completions.d/reviewer.fish",
		"zsh":  zsh + "/_reviewer",
	}
	for shell, place := range places {
		files = append(files, file{place, 0o644, b.common.completions[shell]})
	}
	for _, page := range b.common.pages {
		content, err := gzipOf(page.content)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"usr/share/man/man1/" + page.name + ".gz", 0o644, content})
	}
	return sorted(files), nil
}

// packageVersion returns the version in the form that package managers sort correctly:
// ~ sorts before the end.
func (r *release) packageVersion() string { return strings.ReplaceAll(r.version, "-", "~") }

// deb writes a package for Debian and derived systems: an ar archive of two tars.
func (r *release) deb(b *build) ([]byte, error) {
	files, err := r.installed(b, "usr/share/zsh/vendor-completions")
	if err != nil {
		return nil, err
	}
	files = append(files, file{"usr/share/doc/reviewer/copyright", 0o644, copyright(b.texts)})
	data, err := tarGzip(under(".", files), r.time)
	if err != nil {
		return nil, err
	}
	control, err := tarGzip(under(".", r.debControl(b.target, files)), r.time)
	if err != nil {
		return nil, err
	}
	return r.ar([]file{{"debian-binary", 0, []byte("2.0\n")}, {"control.tar.gz", 0, control}, {"data.tar.gz", 0, data}}), nil
}

// under puts files under a folder; unlike path.Join, it keeps the folder ".".
func under(dir string, files []file) []file {
	files = slices.Clone(files)
	for i := range files {
		files[i].name = dir + "/" + files[i].name
	}
	return files
}

func copyright(texts []file) []byte {
	var b bytes.Buffer
	for _, t := range texts {
		if t.name == "LICENSE" {
			fmt.Fprintf(&b, "reviewer: %s\nLicences of the included modules are in the folder licenses.\n\n%s", website, t.content)
		}
	}
	return b.Bytes()
}

func (r *release) debControl(t target, files []file) []file {
	var control, sums strings.Builder
	size := 0
	for _, f := range sorted(files) {
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.content), f.name)
		size += (len(f.content) + 1023) / 1024
	}
	fmt.Fprintf(&control, "Package: reviewer\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\n"+
		"Section: devel\nPriority: optional\nHomepage: %s\nDescription: %s\n %s\n", r.packageVersion(), t.arch, maintainer, size, website,
		summary, strings.Join(details(), "\n "))
	return []file{{"control", 0o644, []byte(control.String())}, {"md5sums", 0o644, []byte(sums.String())}}
}

// ar is the form of archives that deb packages are in.
func (r *release) ar(files []file) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", f.name, r.time.Unix(), 0, 0, "100644", len(f.content))
		b.Write(f.content)
		if len(f.content)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// rpm writes a package for Fedora and similar systems.
func (r *release) rpm(b *build) ([]byte, error) {
	files, err := r.installed(b, "usr/share/zsh/site-functions")
	if err != nil {
		return nil, err
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[b.arch]
	p, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: "reviewer", Version: r.packageVersion(), Release: "1", Arch: arch, Licence: "Apache-2.0", URL: website, Summary: summary,
		Description: strings.Join(details(), "\n"), Packager: maintainer, Vendor: maintainer, BuildTime: r.time, BuildHost: "localhost", Compressor: "gzip",
	})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		kind := rpmpack.GenericFile
		switch {
		case strings.HasPrefix(f.name, "usr/share/doc/") && path.Base(f.name) != "README.md":
			kind = rpmpack.LicenceFile
		case strings.HasPrefix(f.name, "usr/share/doc/"), strings.HasPrefix(f.name, "usr/share/man/"):
			kind = rpmpack.DocFile
		}
		p.AddFile(rpmpack.RPMFile{Name: "/" + f.name, Body: f.content, Mode: uint(f.mode) | 0o100000, Owner: "root", Group: "root",
			MTime: uint32(r.time.Unix()), Type: kind})
	}
	var out bytes.Buffer
	err = p.Write(&out)
	return out.Bytes(), err
}
