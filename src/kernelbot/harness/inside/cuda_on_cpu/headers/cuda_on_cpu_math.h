// Mathematical intrinsics, conversions and bits. What is approximate on a GPU is exact here.
#pragma once

using std::max;
using std::min;
// The number, if one of both is none.
constexpr float max(float a, float b) { return __builtin_fmaxf(a, b); }
constexpr float min(float a, float b) { return __builtin_fminf(a, b); }
constexpr double max(double a, double b) { return __builtin_fmax(a, b); }
constexpr double min(double a, double b) { return __builtin_fmin(a, b); }
template <class A, class B,
          class = std::enable_if_t<!std::is_same_v<A, B> && std::is_arithmetic_v<A> &&
                                   std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    return max(T(a), T(b));
}
template <class A, class B,
          class = std::enable_if_t<!std::is_same_v<A, B> && std::is_arithmetic_v<A> &&
                                   std::is_arithmetic_v<B>>>
constexpr std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    return min(T(a), T(b));
}

// The C library declares several of these names for itself, so they are macros.
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) cuda_on_cpu::fast_power(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __sincosf(x, s, c) sincosf(x, s, c)

namespace cuda_on_cpu {
// Not to be contracted with what is computed from it.
template <class T> T apart(T x) {
#ifdef __x86_64__
    asm("" : "+x"(x));
    return x;
#else
    volatile T kept = x;
    return kept;
#endif
}
#ifdef CUDA_ON_CPU_HIP
inline float fast_power(float x, float y) { return powf(x, y); }
inline float fast_quotient(float a, float b) { return a / b; }
#else // by their definitions, which have other results than the exact functions here and there
inline float fast_power(float x, float y) { return exp2f(y * log2f(x)); }
inline float fast_quotient(float a, float b) {
    bool is_large = fabsf(b) > 0x1p126f && fabsf(b) < INFINITY;
    return is_large ? a * copysignf(0.0f, b) : a / b;
}
#endif
// sin(pi x), for x from 0 to 2 exactly reduced
inline double sine_of_half_turns(double x) {
    double r = fmod(fabs(x), 2.0);
    double size = r == 1.0 ? 0.0 : sin(3.14159265358979323846 * (r > 1.0 ? r - 2.0 : r));
    return copysign(1.0, x) * size;
}
inline double cosine_of_half_turns(double x) {
    double r = fmod(fabs(x), 2.0);
    return r == 0.5 || r == 1.5 ? 0.0 : cos(3.14159265358979323846 * r);
}
} // namespace cuda_on_cpu

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float sinpif(float x) { return static_cast<float>(cuda_on_cpu::sine_of_half_turns(x)); }
inline float cospif(float x) { return static_cast<float>(cuda_on_cpu::cosine_of_half_turns(x)); }
inline double sinpi(double x) { return cuda_on_cpu::sine_of_half_turns(x); }
inline double cospi(double x) { return cuda_on_cpu::cosine_of_half_turns(x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline float erfcxf(float x) { return static_cast<float>(exp(double(x) * x) * erfc(double(x))); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline float norm3df(float x, float y, float z) { return std::hypot(x, y, z); }
inline double norm3d(double x, double y, double z) { return std::hypot(x, y, z); }
inline float norm4df(float x, float y, float z, float w) { return hypotf(std::hypot(x, y, z), w); }
inline double norm4d(double x, double y, double z, double w) { return hypot(norm3d(x, y, z), w); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
inline double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
inline float fdividef(float a, float b) { return a / b; }
inline float __fdividef(float a, float b) { return cuda_on_cpu::fast_quotient(a, b); }
// These are never contracted into a multiplication with an addition.
#define CUDA_ON_CPU_APART(NAME, T, OP)                                                         \
    inline T NAME(T a, T b) {                                                                  \
        return cuda_on_cpu::apart(cuda_on_cpu::apart(a) OP cuda_on_cpu::apart(b));             \
    }
CUDA_ON_CPU_APART(__fadd_rn, float, +)
CUDA_ON_CPU_APART(__fsub_rn, float, -)
CUDA_ON_CPU_APART(__fmul_rn, float, *)
CUDA_ON_CPU_APART(__fdiv_rn, float, /)
CUDA_ON_CPU_APART(__dadd_rn, double, +)
CUDA_ON_CPU_APART(__dsub_rn, double, -)
CUDA_ON_CPU_APART(__dmul_rn, double, *)
CUDA_ON_CPU_APART(__ddiv_rn, double, /)
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(double(x))); }
namespace cuda_on_cpu {
// Computed while the processor rounds in a direction: what is volatile isn't moved past the calls.
template <class T, class Compute> T rounding(int way, T a, T b, T c, Compute compute) {
    volatile T x = a, y = b, z = c;
    int before = fegetround();
    fesetround(way);
    volatile T found = compute(T(x), T(y), T(z));
    fesetround(before);
    return found;
}
} // namespace cuda_on_cpu
#define CUDA_ON_CPU_DIRECTED(T, SIGN, FN, SUFFIX, WAY)                                         \
    inline T __##SIGN##add_##SUFFIX(T a, T b) {                                                \
        return cuda_on_cpu::rounding(WAY, a, b, b, [](T x, T y, T) { return x + y; });         \
    }                                                                                          \
    inline T __##SIGN##sub_##SUFFIX(T a, T b) {                                                \
        return cuda_on_cpu::rounding(WAY, a, b, b, [](T x, T y, T) { return x - y; });         \
    }                                                                                          \
    inline T __##SIGN##mul_##SUFFIX(T a, T b) {                                                \
        return cuda_on_cpu::rounding(WAY, a, b, b, [](T x, T y, T) { return x * y; });         \
    }                                                                                          \
    inline T __##SIGN##div_##SUFFIX(T a, T b) {                                                \
        return cuda_on_cpu::rounding(WAY, a, b, b, [](T x, T y, T) { return x / y; });         \
    }                                                                                          \
    inline T __##SIGN##rcp_##SUFFIX(T a) { return __##SIGN##div_##SUFFIX(T(1), a); }           \
    inline T __##SIGN##sqrt_##SUFFIX(T a) {                                                    \
        return cuda_on_cpu::rounding(WAY, a, a, a, [](T x, T, T) { return std::sqrt(x); });    \
    }                                                                                          \
    inline T FN##_##SUFFIX(T a, T b, T c) {                                                    \
        return cuda_on_cpu::rounding(WAY, a, b, c,                                             \
                                     [](T x, T y, T z) { return std::fma(x, y, z); });         \
    }
CUDA_ON_CPU_DIRECTED(float, f, __fmaf, rz, FE_TOWARDZERO)
CUDA_ON_CPU_DIRECTED(float, f, __fmaf, rd, FE_DOWNWARD)
CUDA_ON_CPU_DIRECTED(float, f, __fmaf, ru, FE_UPWARD)
CUDA_ON_CPU_DIRECTED(double, d, __fma, rz, FE_TOWARDZERO)
CUDA_ON_CPU_DIRECTED(double, d, __fma, rd, FE_DOWNWARD)
CUDA_ON_CPU_DIRECTED(double, d, __fma, ru, FE_UPWARD)
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

namespace cuda_on_cpu {
// Saturating, as the hardware converts. What is no number becomes 0; with CUDA only the highest bit
// is set if either side has 64 bits.
template <class To, class From> To rounded(From x) {
#ifdef CUDA_ON_CPU_HIP
    if (x != x) return 0;
#else
    constexpr bool is_wide = sizeof(To) == 8 || sizeof(From) == 8;
    if (x != x) return is_wide ? To(std::make_unsigned_t<To>(1) << (8 * sizeof(To) - 1)) : 0;
#endif
    if (x <= From(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (x >= From(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
}
// `above`, `below`: whether the result may lie there.
template <class To, class From> To directed(From x, bool above, bool below) {
    To near = static_cast<To>(x);
    long double exact = x, got = near;
    if (got > exact && !above) return std::nextafter(near, -std::numeric_limits<To>::infinity());
    if (got < exact && !below) return std::nextafter(near, std::numeric_limits<To>::infinity());
    return near;
}
} // namespace cuda_on_cpu
#define CUDA_ON_CPU_TO_INTEGER(FROM, FROM_NAME, TO, TO_NAME)                                   \
    inline TO __##FROM_NAME##2##TO_NAME##_rn(FROM x) {                                         \
        return cuda_on_cpu::rounded<TO>(std::nearbyint(x));                                    \
    }                                                                                          \
    inline TO __##FROM_NAME##2##TO_NAME##_rz(FROM x) {                                         \
        return cuda_on_cpu::rounded<TO>(std::trunc(x));                                        \
    }                                                                                          \
    inline TO __##FROM_NAME##2##TO_NAME##_rd(FROM x) {                                         \
        return cuda_on_cpu::rounded<TO>(std::floor(x));                                        \
    }                                                                                          \
    inline TO __##FROM_NAME##2##TO_NAME##_ru(FROM x) {                                         \
        return cuda_on_cpu::rounded<TO>(std::ceil(x));                                         \
    }
CUDA_ON_CPU_TO_INTEGER(float, float, int, int)
CUDA_ON_CPU_TO_INTEGER(float, float, unsigned, uint)
CUDA_ON_CPU_TO_INTEGER(float, float, long long, ll)
CUDA_ON_CPU_TO_INTEGER(float, float, unsigned long long, ull)
CUDA_ON_CPU_TO_INTEGER(double, double, int, int)
CUDA_ON_CPU_TO_INTEGER(double, double, unsigned, uint)
CUDA_ON_CPU_TO_INTEGER(double, double, long long, ll)
CUDA_ON_CPU_TO_INTEGER(double, double, unsigned long long, ull)
#define CUDA_ON_CPU_TO_REAL(FROM, FROM_NAME, TO, TO_NAME)                                      \
    inline TO __##FROM_NAME##2##TO_NAME##_rn(FROM x) { return static_cast<TO>(x); }            \
    inline TO __##FROM_NAME##2##TO_NAME##_rz(FROM x) {                                         \
        return cuda_on_cpu::directed<TO>(x, x < 0, x > 0);                                     \
    }                                                                                          \
    inline TO __##FROM_NAME##2##TO_NAME##_rd(FROM x) {                                         \
        return cuda_on_cpu::directed<TO>(x, false, true);                                      \
    }                                                                                          \
    inline TO __##FROM_NAME##2##TO_NAME##_ru(FROM x) {                                         \
        return cuda_on_cpu::directed<TO>(x, true, false);                                      \
    }
CUDA_ON_CPU_TO_REAL(int, int, float, float)
CUDA_ON_CPU_TO_REAL(unsigned, uint, float, float)
CUDA_ON_CPU_TO_REAL(long long, ll, float, float)
CUDA_ON_CPU_TO_REAL(unsigned long long, ull, float, float)
CUDA_ON_CPU_TO_REAL(double, double, float, float)
CUDA_ON_CPU_TO_REAL(long long, ll, double, double)
CUDA_ON_CPU_TO_REAL(unsigned long long, ull, double, double)
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }

inline double __hiloint2double(int high, int low) {
    return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

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
inline long long __mul64hi(long long a, long long b) {
    return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline unsigned __sad(int a, int b, unsigned sum) {
    return sum + static_cast<unsigned>(a < b ? 1ll * b - a : 1ll * a - b);
}
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a < b ? b - a : a - b); }
inline int __hadd(int a, int b) { return static_cast<int>((1ll * a + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((1ll * a + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return static_cast<unsigned>((1ull * a + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) {
    return static_cast<unsigned>((1ull * a + b + 1) >> 1);
}
inline int __mul24(int a, int b) {
    return static_cast<int>(static_cast<long long>(a << 8 >> 8) * (b << 8 >> 8));
}
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
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift < 32 ? __funnelshift_l(low, high, shift) : low;
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}
inline int __dp4a(int a, int b, int sum) {
    for (int i = 0; i < 32; i += 8)
        sum += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
    return sum;
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 32; i += 8)
        sum += static_cast<unsigned char>(a >> i) * static_cast<unsigned char>(b >> i);
    return sum;
}
inline int __dp4a(char4 a, char4 b, int sum) {
    return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), sum);
}
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned sum) {
    return __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), sum);
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
