package sim

import "strings"

// Sanitizer is a set of sanitizers that a program is built with.
type Sanitizer uint8

// The sanitizers. Address and Undefined go together in one build; Thread stands
// alone, and so does Traffic, which watches nothing but counts the bytes that move
// between device memory and threads. The zero value runs without any. Trace is for a
// Library: each of its reads and writes of memory calls __sanitizer_cov_loadN or
// __sanitizer_cov_storeN, which the process that loads it has. Quick goes with all of
// them: a build without optimisation, which takes a fifth of the time for a source of
// products, and runs several times as long.
const (
	Thread Sanitizer = 1 << iota
	Address
	Undefined
	Traffic
	Trace
	Quick
)

func (s Sanitizer) String() string {
	var names []string
	for i, name := range []string{"thread", "address", "undefined", "traffic", "trace", "quick"} {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, "+")
}

// flags are the compiler's. Metal defines a shift by any count, so that check
// is off; vptr and function need a C++ library and have no meaning here.
func (s Sanitizer) flags() []string {
	var f []string
	if s&Thread != 0 {
		f = append(f, "-fsanitize=thread")
	}
	if s&Address != 0 {
		f = append(f, "-fsanitize=address")
	}
	if s&Undefined != 0 {
		f = append(f, "-fsanitize=undefined", "-fno-sanitize=shift,vptr,function")
	}
	if s&Traffic != 0 {
		// Without builtins a loop that copies stays loads and stores, and is seen.
		f = append(f, "-fsanitize-coverage=func,trace-loads,trace-stores", "-fno-builtin")
	}
	if s&Trace != 0 {
		f = append(f, "-fsanitize-coverage=func,trace-loads,trace-stores")
	}
	if s&Quick != 0 {
		f = append(f, "-O0")
	}
	return f
}

// defines tell the runtime which sanitizer to speak to.
func (s Sanitizer) defines() []string {
	var f []string
	if s&Thread != 0 {
		f = append(f, "-DMSL_TSAN=1")
	}
	if s&Address != 0 {
		f = append(f, "-DMSL_ASAN=1")
	}
	if s&Traffic != 0 {
		f = append(f, "-DMSL_TRAFFIC=1")
	}
	return f
}

// environment makes the sanitizers write addresses, which the package turns
// into lines itself, and go on after what they can go on after.
func (s Sanitizer) environment() []string {
	return []string{
		"TSAN_OPTIONS=symbolize=0:detect_deadlocks=0:atexit_sleep_ms=0:exitcode=0:history_size=4:report_thread_leaks=0:report_signal_unsafe=0",
		"ASAN_OPTIONS=symbolize=0:detect_leaks=0:detect_stack_use_after_return=0:exitcode=3",
		"UBSAN_OPTIONS=symbolize=0:print_stacktrace=1",
	}
}
