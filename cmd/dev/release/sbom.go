package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/agent-reviewer/reviewer/bundles/signing"
)

// sbom lists the modules of a target's first program in the CycloneDX format, as the
// program itself lists them (go version -m).
func (r *release) sbom(b *build) ([]byte, error) {
	main := r.application(b)
	bom := cdx.NewBOM()
	bom.SerialNumber = uuid(b.programs[0].content)
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &main}
	list, refs := []cdx.Component{standardLibrary(b.info)}, []string{}
	for _, m := range b.info.Deps {
		list = append(list, library(m.Path, m.Version, m.Sum))
	}
	for _, c := range list {
		refs = append(refs, c.BOMRef)
	}
	bom.Components = &list
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	var out bytes.Buffer
	err := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return out.Bytes(), err
}

func (r *release) application(b *build) cdx.Component {
	exe := b.programs[0]
	purl := "pkg:golang/" + module + "@v" + r.version
	return cdx.Component{
		BOMRef: purl, Type: cdx.ComponentTypeApplication, Name: "reviewer", Version: r.version, PackageURL: purl,
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: signing.SHA256(exe.content)}},
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		Properties: &[]cdx.Property{{Name: "reviewer:file", Value: exe.name}, {Name: "reviewer:target", Value: b.String()}},
	}
}

// library is a module. Go's checksum of it covers all its files, and is not the hash
// of one file.
func library(path, version, sum string) cdx.Component {
	purl := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl,
		Properties: &[]cdx.Property{{Name: "go:sum", Value: sum}}}
}

func standardLibrary(info *buildinfo.BuildInfo) cdx.Component {
	purl := "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")
	return cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion, PackageURL: purl}
}

// uuid derives a document's id from its subject.
func uuid(content []byte) string {
	sum := sha256.Sum256(content)
	id := slices.Clone(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8: custom
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
