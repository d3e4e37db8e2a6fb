#!/bin/sh
# Installs what the tests need beyond Go, a C compiler and make: a clang whose
# thread and address sanitizers work, to check and run the Metal sources, and on
# Linux the runtimes of Objective-C and of blocks, to run the Metal backend.
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

# objc says whether the software Metal can be built.
objc() {
	[ "$(uname)" != Linux ] && return 0
	ls /usr/lib/gcc/*/*/include/objc/objc.h >/dev/null 2>&1 && [ -e /usr/include/Block.h ]
}

for clang in clang-19 clang; do
	if works "$clang" && objc; then
		exit 0
	fi
done
case $(uname) in
Linux)
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "tools: install clang 16 or later with its sanitizer runtime, GNU's Objective-C runtime and libBlocksRuntime, with their headers" >&2
		exit 1
	fi
	sudo=
	[ "$(id -u)" = 0 ] || sudo=sudo
	$sudo apt-get update -q
	gcc=$(gcc -dumpversion | cut -d. -f1)
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -q clang-19 libclang-rt-19-dev "libobjc-$gcc-dev" libblocksruntime-dev
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
objc || { echo "tools: the Objective-C runtime is installed but its headers are not where gcc has them" >&2; exit 1; }
works clang-19 || { echo "tools: clang-19 is installed but its thread sanitizer does not work" >&2; exit 1; }
