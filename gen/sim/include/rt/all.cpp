// The runtime as one translation unit.
#include "fibre.cpp"
#include "report.cpp"
#include "memory.cpp"
#if MSL_TRAFFIC
#include "traffic.cpp"
#endif
#include "sched.cpp"
#include "dispatch.cpp"
#if !MSL_LIBRARY
#include "job.cpp"
#endif
