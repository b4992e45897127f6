// Of libcu++ what CUB's callers need: C++'s own library by the name `cuda::std`, and two operators.
#pragma once

namespace cuda {
namespace std {
using namespace ::std;
} // namespace std
template <class T = void> struct maximum {
    T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
template <class T = void> struct minimum {
    T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};
template <> struct maximum<void> {
    template <class A, class B> ::std::common_type_t<A, B> operator()(const A &a, const B &b) const {
        return a < b ? b : a;
    }
};
template <> struct minimum<void> {
    template <class A, class B> ::std::common_type_t<A, B> operator()(const A &a, const B &b) const {
        return b < a ? b : a;
    }
};
} // namespace cuda
