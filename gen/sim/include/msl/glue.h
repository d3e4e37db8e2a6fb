// What the tool's table of kernels is made of: the arguments of a kernel from
// untyped buffers and from the place of a thread.
#pragma once

namespace msl {
template <int I, class A, class... R> struct nth { typedef typename nth<I - 1, R...>::type type; };
template <class A, class... R> struct nth<0, A, R...> { typedef A type; };
template <class F> struct signature;
template <class... A> struct signature<void (*)(A...)> {
  template <int I> using arg = typename nth<I, A...>::type;
};

// pointee strips the reference or pointer of a buffer argument.
template <class T> struct pointee;
template <class T> struct pointee<T *> { typedef T type; };
template <class T> struct pointee<T &> { typedef T type; };

template <class T> struct bound;
template <class T> struct bound<T *> { static T *to(void *p) { return static_cast<T *>(p); } };
template <class T> struct bound<T &> { static T &to(void *p) { return *static_cast<T *>(p); } };

// position makes the one to three components that an argument asks for.
template <class T> static inline T position(const unsigned *v) {
  if constexpr (lanes<T>::count == 1) {
    return T(v[0]);
  } else {
    T r = {};
    for (int i = 0; i < lanes<T>::count; ++i) r[i] = typename lanes<T>::elem(v[i]);
    return r;
  }
}
}
