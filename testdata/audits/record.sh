#!/usr/bin/env bash
# Records a log for testdata/audits: a short session with every kind of answer,
# one that was stopped and resumed, and one that is long enough for keyframes.
# A new version of the format, the engine or the fold gets a folder of its own. The log
# of a released version is kept forever and never recorded again; of the versions
# before the first release, the first, the last and one in between are kept.
#
# usage: testdata/audits/record.sh PATH/TO/reviewer VERSION
#
# VERSION names the folder after what was raised, such as v1-engine5. It takes
# half a minute, and needs nothing but the program:
#
#   make build && testdata/audits/record.sh bin/reviewer v1-engine5
#
# The log contains the program's environment (`reviewer version`) and the built-in
# policy, so both must be final. Until a version is released its log may be recorded
# again: remove the folder first. The logs of older versions then
# belong to another environment. TestFrozenLogs prints what comes out of them;
# their expected.txt has to say so, with the reason for each decision that differs.
set -euo pipefail

program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
inputs=$here/../hooks/claude-code/session.jsonl
out=$here/$2/home
[ ! -e "$out" ] || { echo "$out is there already" >&2; exit 1; }
mkdir -p "$out"
reviewer() { HOME=/home/kim "$program" "$@" --home "$out"; }

# Prompts are trusted if the client itself reports them: a shell of its name does.
client=$(mktemp -d)/claude
trap 'rm -r "$(dirname "$client")"' EXIT
cp "$(command -v bash)" "$client"
hook() { HOME=/home/kim "$client" -c '"$0" hook claude-code --home "$1" > /dev/null 2>&1; true' "$program" "$out"; }

while IFS= read -r event; do printf '%s' "$event" | hook; done < "$inputs"

# A person stops a session; what comes later is denied.
head -n 12 "$inputs" | sed 's/7b1f6c52/5705ed00/' | while IFS= read -r event; do printf '%s' "$event" | hook; done
reviewer session stop 5705ed00 --reason 'enough for today' > /dev/null
sed -n '13,15p' "$inputs" | sed 's/7b1f6c52/5705ed00/' | while IFS= read -r event; do printf '%s' "$event" | hook; done

# The same two calls until the fold is written out twice.
for i in $(seq 1 150); do
  sed -n '10,11p' "$inputs" | sed "s/7b1f6c52/1096e400/; s/\"tool_use_id\":\"/&$i-/" | while IFS= read -r event; do printf '%s' "$event" | hook; done
done

reviewer audit seal > /dev/null
rm -f "$out/key" "$out"/*/lock "$out"/*/*/lock "$out"/*/*/snapshot.json
replayed=$(reviewer audit replay)
{ echo "# What audit verify and audit replay print over this log, and what differs when"
  echo "# it is decided again."
  reviewer audit verify
  echo "$replayed"
  sed -n 's/.* records, \([0-9]*\) decisions: .*/\1 decisions are decided again, and 0 values differ/p' <<< "$replayed"
} > "$here/$2/expected.txt"
