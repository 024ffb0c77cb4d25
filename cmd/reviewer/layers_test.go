package main

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/agent-reviewer/reviewer/cmd/reviewer/wiring/wiringtest"
	"github.com/agent-reviewer/reviewer/engine/review"
	"github.com/agent-reviewer/reviewer/rego"
)

// policyOf compiles the built-in policy with layers over it, each a file
// system with the name of its layer.
func policyOf(t *testing.T, layers ...layerFiles) *review.Policy {
	t.Helper()
	var list []wiringtest.Layer
	for _, l := range layers {
		list = append(list, wiringtest.Layer{Name: l.name, Files: l.files})
	}
	return wiringtest.PolicyOf(t, list...)
}

func reopened(ctx context.Context, modules map[string]string, data map[string]any) (*rego.Host, error) {
	return wiringtest.Reopened(ctx, modules, data)
}

type layerFiles struct {
	name  string
	files fstest.MapFS
}

func layerOf(name string, files ...string) layerFiles {
	return layerFiles{name, wiringtest.LayerOf(name, files...).Files}
}
