package osfile_test

import (
	"testing"

	"golang.org/x/sys/windows"
)

// openToAll lets everyone read a file, or a folder and what is made in it.
func openToAll(t *testing.T, path string) {
	t.Helper()
	rights, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;WD)")
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := rights.DACL()
	if err != nil {
		t.Fatal(err)
	}
	if err := windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil); err != nil {
		t.Fatal(err)
	}
}
