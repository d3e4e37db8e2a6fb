#!/bin/sh
# The figures, as ratios to memcpy and OpenBLAS in the same run.
set -eu
cd "$(dirname "$0")/.."
tags=
if [ "$(uname)" = Linux ] && command -v apt-get >/dev/null 2>&1; then
	if ! ldconfig -p | grep -q libopenblas.so; then
		sudo=
		[ "$(id -u)" = 0 ] || sudo=sudo
		$sudo apt-get update -q && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q libopenblas-dev
	fi
	tags="-tags openblas"
fi
# OpenBLAS picks its kernel for the processor by itself unless these say otherwise.
env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE go run $tags ./tests/bench
