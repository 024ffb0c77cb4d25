package caller

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

func processes() (map[int]Process, error) {
	list, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer windows.CloseHandle(list)
	table := map[int]Process{}
	entry := windows.ProcessEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(list, &entry); err == nil; err = windows.Process32Next(list, &entry) {
		if entry.ProcessID == 0 {
			continue // the idle process, which has no children
		}
		program := windows.UTF16ToString(entry.ExeFile[:])
		p := Process{Pid: int(entry.ProcessID), Parent: int(entry.ParentProcessID), Lost: -1, Command: commandLine([]string{program})}
		p.ask()
		table[p.Pid] = p
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	return table, nil
}

// ask fills in what the system reports about a process of the same user; processes of
// others keep the name of their program.
func (p *Process) ask() {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(p.Pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) == nil {
		p.Began = created.Nanoseconds() / 1e6
		p.Start = p.Began
	}
	if words := wordsOf(h); len(words) > 0 {
		p.Command = commandLine(words)
		return
	}
	path := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(path))
	if windows.QueryFullProcessImageName(h, 0, &path[0], &size) == nil {
		p.Command = commandLine([]string{windows.UTF16ToString(path[:size])})
	}
}

// wordsOf is the command line of a process.
func wordsOf(h windows.Handle) []string {
	buffer := make([]uint64, 8<<10) // 64 KiB, as long as a command line can be
	size := uint32(len(buffer) * 8)
	err := windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, unsafe.Pointer(&buffer[0]), size, &size)
	if err != nil {
		return nil
	}
	words, err := windows.DecomposeCommandLine((*windows.NTUnicodeString)(unsafe.Pointer(&buffer[0])).String())
	if err != nil {
		return nil
	}
	return words
}
