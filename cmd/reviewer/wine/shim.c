/*
 * What Go 1.26 programs need and wine 8 has not: ProcessPrng, and the answer that
 * Windows versions before 10 give when they are asked to delete or rename the newer
 * way, upon which Go takes the older way. Wine says "invalid function" instead.
 *
 * Go loads bcryptprimitives.dll from the system's folder as it starts, so this file
 * takes its place there (run.sh).
 */
#include <windows.h>
#include <string.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length)
{
	return SystemFunction036(data, (ULONG)length);
}

#define STATUS_NO_SUCH_CLASS ((LONG)0xC0000003)
#define DISPOSITION_EX 64 /* FileDispositionInformationEx */
#define RENAME_EX 65      /* FileRenameInformationEx */

typedef LONG(NTAPI *set_information)(HANDLE, PVOID, PVOID, ULONG, ULONG);
static set_information original;

static LONG NTAPI set_information_file(HANDLE file, PVOID status, PVOID data, ULONG length, ULONG class)
{
	if (class == DISPOSITION_EX || class == RENAME_EX)
		return STATUS_NO_SUCH_CLASS;
	return original(file, status, data, length, class);
}

/*
 * redirect makes a library export our function under a name of its own. An export is
 * an offset of 32 bits, so a jump to the function is put near the library.
 */
static void redirect(BYTE *library, const char *name, void *target)
{
	IMAGE_NT_HEADERS *head = (void *)(library + ((IMAGE_DOS_HEADER *)library)->e_lfanew);
	IMAGE_EXPORT_DIRECTORY *exports = (void *)(library + head->OptionalHeader.DataDirectory[0].VirtualAddress);
	DWORD *names = (void *)(library + exports->AddressOfNames);
	DWORD *functions = (void *)(library + exports->AddressOfFunctions);
	WORD *ordinals = (void *)(library + exports->AddressOfNameOrdinals);
	BYTE *place = library + head->OptionalHeader.SizeOfImage, *jump = NULL;

	for (; !jump && place < library + 0x7fff0000; place += 0x10000)
		jump = VirtualAlloc(place, 4096, MEM_RESERVE | MEM_COMMIT, PAGE_EXECUTE_READWRITE);
	if (!jump)
		return;
	memcpy(jump, "\x48\xb8", 2); /* mov rax, target */
	memcpy(jump + 2, &target, 8);
	memcpy(jump + 10, "\xff\xe0", 2); /* jmp rax */
	for (DWORD i = 0; i < exports->NumberOfNames; i++) {
		DWORD before, *entry = &functions[ordinals[i]];
		if (strcmp((char *)library + names[i], name))
			continue;
		VirtualProtect(entry, sizeof *entry, PAGE_READWRITE, &before);
		*entry = (DWORD)(jump - library);
		VirtualProtect(entry, sizeof *entry, before, &before);
	}
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved)
{
	if (reason == DLL_PROCESS_ATTACH) {
		HMODULE ntdll = GetModuleHandleA("ntdll.dll");
		original = (set_information)GetProcAddress(ntdll, "NtSetInformationFile");
		redirect((BYTE *)ntdll, "NtSetInformationFile", set_information_file);
	}
	return TRUE;
}
