#!/usr/bin/env bash
# Runs tests of packages, and the scripts of the command line, as Windows programs
# under wine 8 or later. It needs Debian's wine64 and gcc-mingw-w64-x86-64-win32, which
# it installs where it may, and no window.
#
# usage: cmd/reviewer/wine/run.sh [-if-possible] ./engine/osfile ./engine/audit … [scripts[=REGEXP]]
#
# scripts are those of testdata/script. scripts.txt next to this file lists them: those
# with run pass under wine, those with skip fail or skip themselves, each for the reason
# there. A script that does anything else is an error. With -if-possible, the tests are
# skipped where wine cannot be installed; without it, that is an error. docs/windows.md
# says what wine cannot show.
set -euo pipefail
cd "$(dirname "$0")/../../.."

possible=
[ "${1-}" != -if-possible ] || { possible=1; shift; }

find_wine() { command -v wine64 || { test -x /usr/lib/wine/wine64 && echo /usr/lib/wine/wine64; }; }
install_wine() { apt-get update -qq && apt-get install -y -qq --no-install-recommends wine64 gcc-mingw-w64-x86-64-win32; }
if ! find_wine > /dev/null || ! command -v x86_64-w64-mingw32-gcc > /dev/null; then
  reason=$(install_wine 2>&1) || {
    [ -z "$possible" ] || { echo "SKIPPED the tests under wine: it cannot be installed: $(tail -n 1 <<< "$reason")"; exit 0; }
    echo "$reason" >&2
    exit 1
  }
fi

umask 077 # wine's server makes the files: they are the user's own, as in a home folder of Windows
work=$(mktemp -d)
wine=$(readlink -f "$(find_wine)")
export WINEPREFIX=$work/prefix WINEDEBUG=-all
# The server of wine goes on for some seconds, and writes into the folder.
trap '"$(dirname "$wine")/wineserver" -k 2> /dev/null || true; rm -rf "$work" || true' EXIT
"$wine" wineboot --init > /dev/null 2>&1
x86_64-w64-mingw32-gcc -O1 -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" cmd/reviewer/wine/shim.c -ladvapi32

failed=

# package PACKAGE runs its tests. Those of ./cmd/reviewer are the scripts alone.
package() {
  echo "$1"
  rm -f "$work/test.exe"
  GOOS=windows go test -ldflags=-w -c -o "$work/test.exe" "$1"
  [ -e "$work/test.exe" ] || { echo "no tests"; return 0; }
  (cd "$1" && "$wine" "$work/test.exe" -test.short -test.timeout 30m)
}

# scripts REGEXP runs scripts, and compares what fails with the list.
scripts() {
  local list=cmd/reviewer/wine/scripts.txt passed failed_ skipped wrong=
  GOOS=windows go test -ldflags=-w -c -o "$work/scripts.exe" ./cmd/reviewer
  (cd cmd/reviewer && "$wine" "$work/scripts.exe" -test.run "TestScript/$1" -test.parallel 2 -test.timeout 3h -test.v) > "$work/out" 2>&1 || true
  tr -d '\r' < "$work/out" > "$work/lines"
  passed=$(sed -n 's,^ *--- PASS: TestScript/\([^ ]*\).*,\1,p' "$work/lines")
  skipped=$(sed -n 's,^ *--- SKIP: TestScript/\([^ ]*\).*,\1,p' "$work/lines")
  failed_=$(sed -n 's,^ *--- FAIL: TestScript/\([^ ]*\).*,\1,p' "$work/lines")
  for name in $failed_; do
    grep -q "^skip $name " "$list" && continue
    wrong+=" $name"
    sed -n "s,^ *FAIL: .*[\\\\/]$name\.txtar:,  $name.txtar:,p" "$work/lines" | cut -c1-300
  done
  for name in $passed; do
    ! grep -q "^skip $name " "$list" || { wrong+=" $name(passes)"; echo "  $name is in $list, and passes: make it run"; }
  done
  echo "scripts: $(echo $passed | wc -w) passed, $(echo $failed_ | wc -w) failed, $(echo $skipped | wc -w) skipped themselves"
  [ -n "$passed" ] && [ -z "$wrong" ]
}

for what in "$@"; do
  case $what in
  scripts | scripts=*) scripts "$(sed 's,^scripts=*,,' <<< "$what")" || failed+=" $what" ;;
  *) package "$what" || failed+=" $what" ;;
  esac
done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
