package main

import (
	"fmt"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
)

// settingsPackage is the folder whose structs have a field for each setting that the program reads.
const settingsPackage = "engine/settings"

// unreadSettings lists the fields of settings that no package reads.
func unreadSettings(loaded []*packages.Package) []string {
	read := map[string]bool{} // by the place where a field is declared
	var declared []*packages.Package
	for _, p := range loaded {
		if strings.HasSuffix(p.PkgPath, settingsPackage) {
			declared = append(declared, p)
			continue
		}
		for _, used := range p.TypesInfo.Uses {
			if v, ok := used.(*types.Var); ok && v.IsField() && strings.HasSuffix(v.Pkg().Path(), settingsPackage) {
				read[placeOf(p, v)] = true
			}
		}
	}
	var list []string
	for _, p := range declared {
		for _, name := range p.Types.Scope().Names() {
			object, ok := p.Types.Scope().Lookup(name).Type().Underlying().(*types.Struct)
			for i := 0; ok && i < object.NumFields(); i++ {
				if f := object.Field(i); !read[placeOf(p, f)] {
					list = append(list, fmt.Sprintf("%s: nothing reads the setting %s.%s; remove x-program from it in schemas/settings.json",
						settingsPackage, name, f.Name()))
				}
			}
		}
	}
	return list
}

func placeOf(p *packages.Package, v *types.Var) string {
	at := p.Fset.Position(v.Pos())
	return fmt.Sprint(at.Filename, ":", at.Line, " ", v.Name())
}
