#!/bin/sh
# Makes the Python environment in build/python that tests compare file formats
# with: what reads and writes safetensors files and tokenizer.json elsewhere.
set -eu
cd "$(dirname "$0")/.."
venv=build/python
wants='import numpy, safetensors.numpy, tokenizers'

if "$venv/bin/python" -c "$wants" 2>/dev/null; then
	exit 0
fi
if ! python3 -c 'import ensurepip' 2>/dev/null; then
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "python: install Python 3.10 or later with its venv module" >&2
		exit 1
	fi
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -q
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q python3 python3-venv
fi
rm -rf "$venv"
python3 -m venv "$venv"
# The tokenizers need their dependencies for downloads only.
"$venv/bin/pip" install --quiet --no-deps numpy 'safetensors>=0.5' 'tokenizers>=0.21'
"$venv/bin/python" -c "$wants"
