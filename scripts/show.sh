#!/bin/sh
# Shows one spec, the Metal source and the Go signatures that came of it.
set -eu
cd "$(dirname "$0")/.."
name=$(basename "$1")
printf '\n--- specs/%s.toml\n' "$1"
cat "specs/$1.toml"
printf '\n--- msl/%s.metal (first kernel)\n' "$1"
bin/kgen explain "$name" --target msl --dtype f32 | sed -n '/^kernel/,/^}/p' | awk '{print} /^}/{exit}'
printf '\n--- generated/ops/%s.go\n' "$name"
grep -E '^func [A-Z]' "generated/ops/$name.go"
echo
