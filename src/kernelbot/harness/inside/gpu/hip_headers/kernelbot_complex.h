// Stands in for Thrust's complex numbers, which torch's headers name where they are compiled for a GPU.
#pragma once
#include <cmath>

namespace thrust {
#pragma clang force_cuda_host_device begin
template <class T> struct complex {
    using value_type = T;
    constexpr complex(T re = T(), T im = T()) : re(re), im(im) {}
    template <class U> constexpr complex(const complex<U> &from) : re(from.real()), im(from.imag()) {}
    constexpr T real() const { return re; }
    constexpr T imag() const { return im; }

  private:
    T re, im;
};
template <class T> complex<T> operator+(complex<T> a, complex<T> b) {
    return {a.real() + b.real(), a.imag() + b.imag()};
}
template <class T> complex<T> operator-(complex<T> a, complex<T> b) {
    return {a.real() - b.real(), a.imag() - b.imag()};
}
template <class T> complex<T> operator*(complex<T> a, complex<T> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T> T abs(complex<T> a) { return std::sqrt(a.real() * a.real() + a.imag() * a.imag()); }
template <class T> T arg(complex<T> a) { return std::atan2(a.imag(), a.real()); }
template <class T> complex<T> polar(T size, T angle = T()) {
    return {size * std::cos(angle), size * std::sin(angle)};
}
#define KERNELBOT_DECLARED(NAME) template <class T> complex<T> NAME(complex<T>);
KERNELBOT_DECLARED(exp)
KERNELBOT_DECLARED(log)
KERNELBOT_DECLARED(log10)
KERNELBOT_DECLARED(sqrt)
KERNELBOT_DECLARED(sin)
KERNELBOT_DECLARED(cos)
KERNELBOT_DECLARED(tan)
KERNELBOT_DECLARED(asin)
KERNELBOT_DECLARED(acos)
KERNELBOT_DECLARED(atan)
KERNELBOT_DECLARED(sinh)
KERNELBOT_DECLARED(cosh)
KERNELBOT_DECLARED(tanh)
KERNELBOT_DECLARED(asinh)
KERNELBOT_DECLARED(acosh)
KERNELBOT_DECLARED(atanh)
#undef KERNELBOT_DECLARED
template <class T> complex<T> pow(complex<T>, complex<T>);
template <class T> complex<T> pow(complex<T>, T);
template <class T> complex<T> pow(T, complex<T>);
#pragma clang force_cuda_host_device end
} // namespace thrust
