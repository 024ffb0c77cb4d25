package bundles

import "testing"

// Checked rows are not checked again, and those of a changed file are.
func TestRowsChecked(t *testing.T) {
	b, err := FromFiles(map[string][]byte{
		"data.yaml":          []byte("reviewer: {}\n"),
		"programs/quay.yaml": []byte("quay:\n  flags: [--berth value]\n"),
	}, Base)
	if err != nil {
		t.Fatal(err)
	}
	marked := RowsChecked([]*Bundle{b})[0]
	if b.rowsOK || !marked.rowsOK {
		t.Errorf("marked: the bundle itself %t, the copy %t", b.rowsOK, marked.rowsOK)
	}
	changed, err := marked.WithFile("data.yaml", []byte("reviewer: {enabled: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if changed.rowsOK {
		t.Error("a changed bundle counts as checked")
	}
}
