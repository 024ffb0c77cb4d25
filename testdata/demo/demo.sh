#!/usr/bin/env bash
# The main job on real input: a session that Claude Code had in /srv/shop, as
# its hooks were called, goes through reviewer call by call. Then the log is
# verified and every decision is recomputed.
#
# usage: testdata/demo/demo.sh PATH/TO/reviewer
set -euo pipefail

program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
inputs=$(cd "$(dirname "$0")/.." && pwd)/hooks/claude-code/session.jsonl
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
# The session was Kim's: ~ is her home, wherever this runs.
reviewer() { HOME=/home/kim "$program" "$@" --home "$home/state"; }

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }
[ -t 1 ] || say() { printf '\n%s\n' "$1"; }

say "1. Each event of the session, as the agent's hook would hand it over:"
echo "   reviewer hook claude-code < event"
denied=0
while IFS= read -r event; do
  # A denial is exit status 2; everything else is 0.
  if ! printf '%s' "$event" | reviewer hook claude-code > "$home/answer" 2> "$home/error"; then
    denied=$((denied + 1))
    cp "$home/error" "$home/denial-$denied"
  fi
done < "$inputs"
echo "   $(wc -l < "$inputs" | tr -d ' ') events, $denied calls denied"

say "2. What was decided, and why:   reviewer audit show last"
reviewer audit show last

say "3. What the agent was told about the second denial, and about the third in a row:"
fold -s -w 100 "$home/denial-2"
echo
fold -s -w 100 "$home/denial-3"

say "4. The log was not tampered with:   reviewer audit verify"
reviewer audit verify

say "5. Every decision, recomputed in another process and time zone:   reviewer audit replay"
TZ=Asia/Tokyo GOMAXPROCS=1 reviewer audit replay

[ "$denied" -gt 2 ] || { echo "fewer than three calls were denied: the demo shows too little" >&2; exit 1; }
