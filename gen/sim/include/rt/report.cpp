#include "group.h"
#include <stdarg.h>
#include <stdio.h>

void report(const char *kind, int line, int column, const char *format, ...) {
  fprintf(stderr, "msl-%s:%d:%d: ", kind, line, column);
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
}
