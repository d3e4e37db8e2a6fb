#!/bin/sh
# Installs what the tests need beyond Go, a C compiler and make: a clang whose
# thread and address sanitizers work, to check and run the Metal sources.
set -eu

works() {
	command -v "$1" >/dev/null 2>&1 || return 1
	dir=$(mktemp -d)
	echo 'int main() { return 0; }' >"$dir/a.cpp"
	"$1" -fsanitize=thread -x c++ -std=c++17 "$dir/a.cpp" -o "$dir/a" >/dev/null 2>&1 && "$dir/a"
	ok=$?
	rm -rf "$dir"
	return $ok
}

for clang in clang-19 clang; do
	if works "$clang"; then
		exit 0
	fi
done
case $(uname) in
Linux)
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "tools: install clang 16 or later with its sanitizer runtime" >&2
		exit 1
	fi
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -q
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q clang-19 libclang-rt-19-dev
	;;
Darwin)
	echo "tools: run xcode-select --install, which brings clang and its sanitizers" >&2
	exit 1
	;;
*)
	echo "tools: install clang 16 or later with its sanitizer runtime" >&2
	exit 1
	;;
esac
works clang-19 || { echo "tools: clang-19 is installed but its thread sanitizer does not work" >&2; exit 1; }
