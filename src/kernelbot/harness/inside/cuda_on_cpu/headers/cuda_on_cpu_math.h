// Mathematical intrinsics, conversions and bits. What is approximate on a GPU is exact here.
#pragma once

using std::max;
using std::min;
template <class A, class B,
          class = std::enable_if_t<!std::is_same_v<A, B> && std::is_arithmetic_v<A> &&
                                   std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    return T(a) < T(b) ? T(b) : T(a);
}
template <class A, class B,
          class = std::enable_if_t<!std::is_same_v<A, B> && std::is_arithmetic_v<A> &&
                                   std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    return T(b) < T(a) ? T(b) : T(a);
}

// The C library declares several of these names for itself, so they are macros.
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __sincosf(x, s, c) sincosf(x, s, c)

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float sinpif(float x) { return sinf(3.14159265358979323846f * x); }
inline float cospif(float x) { return cosf(3.14159265358979323846f * x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
inline float fdividef(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return rsqrtf(x); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

namespace cuda_on_cpu {
// Saturating, and 0 for what is no number, as the hardware converts.
template <class To, class From> To rounded(From x) {
    if (x != x) return 0;
    if (x <= From(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (x >= From(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
}
} // namespace cuda_on_cpu
inline int __float2int_rn(float x) { return cuda_on_cpu::rounded<int>(nearbyintf(x)); }
inline int __float2int_rz(float x) { return cuda_on_cpu::rounded<int>(truncf(x)); }
inline int __float2int_rd(float x) { return cuda_on_cpu::rounded<int>(floorf(x)); }
inline int __float2int_ru(float x) { return cuda_on_cpu::rounded<int>(ceilf(x)); }
inline unsigned __float2uint_rn(float x) { return cuda_on_cpu::rounded<unsigned>(nearbyintf(x)); }
inline unsigned __float2uint_rz(float x) { return cuda_on_cpu::rounded<unsigned>(truncf(x)); }
inline int __double2int_rn(double x) { return cuda_on_cpu::rounded<int>(nearbyint(x)); }
inline int __double2int_rz(double x) { return cuda_on_cpu::rounded<int>(trunc(x)); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __int2float_rz(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long found = 0;
    for (int i = 0; i < 64; ++i) found |= (x >> i & 1) << (63 - i);
    return found;
}
inline unsigned __brev(unsigned x) { return static_cast<unsigned>(__brevll(x) >> 32); }
inline int __mulhi(int a, int b) { return static_cast<int>(1ll * a * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>(1ull * a * b >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
    unsigned found = 0;
    for (int i = 0; i < 4; ++i) {
        unsigned at = selector >> (4 * i) & 15, byte = both >> (8 * (at & 7)) & 255;
        if (at & 8) byte = byte & 128 ? 255 : 0;
        found |= byte << (8 * i);
    }
    return found;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both >> (shift & 31));
}
inline int __dp4a(int a, int b, int sum) {
    for (int i = 0; i < 32; i += 8)
        sum += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
    return sum;
}

template <class T> T __ldg(const T *at) { return *at; }
template <class T> T __ldca(const T *at) { return *at; }
template <class T> T __ldcg(const T *at) { return *at; }
template <class T> T __ldcs(const T *at) { return *at; }
template <class T> T __ldcv(const T *at) { return *at; }
template <class T> T __ldlu(const T *at) { return *at; }
template <class T> void __stwb(T *at, std::type_identity_t<T> value) { *at = value; }
template <class T> void __stcg(T *at, std::type_identity_t<T> value) { *at = value; }
template <class T> void __stcs(T *at, std::type_identity_t<T> value) { *at = value; }
template <class T> void __stwt(T *at, std::type_identity_t<T> value) { *at = value; }

[[noreturn]] __attribute__((noinline)) inline void __trap() {
    cuda_on_cpu::stop("the kernel called __trap.", CUDA_ON_CPU_HERE);
}
