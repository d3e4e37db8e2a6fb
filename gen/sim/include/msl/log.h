// Logs. A run writes nothing: what a kernel logs is no result of it.
#pragma once

namespace metal {
#if defined(MSL_CHECK)
#define MSL_LOG_SELF const constant
#define MSL_LOG_AT constant
#else
#define MSL_LOG_AT
#define MSL_LOG_SELF const
#endif
struct os_log {
  constexpr os_log(const constant char *, const constant char *) MSL_LOG_AT {}
  template <class... A> void log(const constant char *, A...) MSL_LOG_SELF {}
  template <class... A> void log_debug(const constant char *, A...) MSL_LOG_SELF {}
  template <class... A> void log_info(const constant char *, A...) MSL_LOG_SELF {}
  template <class... A> void log_error(const constant char *, A...) MSL_LOG_SELF {}
  template <class... A> void log_fault(const constant char *, A...) MSL_LOG_SELF {}
};
constant os_log os_log_default("", "");
}
