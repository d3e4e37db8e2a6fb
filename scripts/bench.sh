#!/bin/sh
# The figures, as ratios to something outside the project in the same run:
#   scripts/bench.sh               memcpy and OpenBLAS
#   scripts/bench.sh peers [FLAG…] PyTorch and MLX, see tests/bench/peers
#   scripts/bench.sh models [FLAG…] training steps, beside PyTorch, see tests/bench/models
# The peers are installed in a Python environment in build/peers, or the one that
# PEERS_VENV names.
set -eu
cd "$(dirname "$0")/.."

openblas() {
	ldconfig -p | sed -n 's/.* \(.*libopenblas\.so[.0-9]*\)$/\1/p' | head -n 1
}

have_openblas=
if [ "$(uname)" = Linux ] && command -v apt-get >/dev/null 2>&1; then
	if [ -z "$(openblas)" ]; then
		sudo=
		[ "$(id -u)" = 0 ] || sudo=sudo
		$sudo apt-get update -q && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q libopenblas-dev
	fi
	have_openblas=1
fi
# OpenBLAS picks its kernel for the processor by itself unless these say otherwise.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE || true

case ${1-} in
peers | models)
	what=$1
	shift
	venv=${PEERS_VENV-build/peers}
	if ! "$venv/bin/python" -c 'import torch, mlx.core' 2>/dev/null; then
		python3 -m venv "$venv"
		mlx=mlx
		[ "$(uname)" = Darwin ] || mlx='mlx[cpu]'
		"$venv/bin/pip" install --quiet numpy torch "$mlx"
	fi
	python=$(cd "$venv" && pwd)/bin/python
	[ "$what" = peers ] || exec go run ./tests/bench models -python "$python" "$@"
	exec go run ./tests/bench peers -python "$python" ${have_openblas:+-blas "$(openblas)"} "$@"
	;;
esac
exec go run ${have_openblas:+-tags openblas} ./tests/bench
