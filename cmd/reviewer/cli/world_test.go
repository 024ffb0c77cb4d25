package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAPIAddress(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	ports := func() []int {
		t.Helper()
		list, err := apiPorts(home)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got := ports(); got != nil {
		t.Errorf("no file: %v", got)
	}
	for _, c := range []struct {
		address string
		want    []int
	}{
		{"127.0.0.1:9555", []int{9555}}, {"[::1]:81", []int{81}}, {"127.0.0.1:0", nil}, {"", nil}, {"", nil}, {"127.0.0.1:5", []int{5}},
	} {
		if err := KeepAPIAddress(home, c.address); err != nil {
			t.Fatal(err)
		}
		if got := ports(); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.address, got, c.want)
		}
	}
	if list, err := os.ReadDir(home); err != nil || len(list) != 1 {
		t.Errorf("%v, %v: want %s alone", list, err, addressFile)
	}
	if err := KeepPageAddress(home, "127.0.0.1:7000"); err != nil {
		t.Fatal(err)
	}
	if got := ports(); !slices.Equal(got, []int{5, 7000}) {
		t.Errorf("with the port of the pages: %v", got)
	}
	if err := os.WriteFile(filepath.Join(home, addressFile), []byte("9555"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := apiPorts(home); err == nil || !strings.Contains(err.Error(), "start `reviewer serve --http ADDRESS` again") {
		t.Errorf("damaged: %v", err)
	}
}
