package active

import (
	"maps"
	"testing"

	"github.com/agent-reviewer/reviewer/bundles"
)

// What another version shipped is the base again as a bundle of its files.
func TestPlanRestoreOfAnotherVersion(t *testing.T) {
	now, err := bundles.Default()
	if err != nil {
		t.Fatal(err)
	}
	files := maps.Clone(now.Files)
	files["programs/other.yaml"] = []byte("shop-ctl-of-then:\n  reads_only: true\n")
	was, err := bundles.FromFiles(files, bundles.Base)
	if err != nil {
		t.Fatal(err)
	}
	target, err := bundles.Assemble(was)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := governed(t, false).PlanRestore(target)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Bundles) != 1 || plan.Bundles[0].Files == nil || plan.Bundles[0].Files.Digest != was.Digest {
		t.Fatalf("planned is %+v, want the base layer %s", plan.Bundles, was.Digest)
	}
	if _, err := bundles.Pack(plan.Bundles[0].Files, bundles.Release{}); err != nil {
		t.Errorf("its files make no bundle: %v", err)
	}
}
