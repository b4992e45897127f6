// __half and __nv_bfloat16: sixteen bits, computed in float and rounded after each operation.
#pragma once

namespace cuda_on_cpu {
inline float half_to_float(uint16_t bits) {
    unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return __uint_as_float(sign | 0x7f800000u | fraction << 13);
    if (exponent == 0) {
        float small = static_cast<float>(fraction) * 0x1p-24f;
        return sign ? -small : small;
    }
    return __uint_as_float(sign | (exponent + 112) << 23 | fraction << 13);
}
inline uint16_t float_to_half(float value) {
    unsigned bits = __float_as_uint(value), sign = bits >> 16 & 0x8000u;
    float size = fabsf(value);
    if (size != size) return static_cast<uint16_t>(0x7fff);
    if (size >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00u);
    if (size < 0x1p-14f) // the sum has the fraction's bits, rounded, at its end
        return static_cast<uint16_t>(sign | (__float_as_uint(size + 0.5f) - 0x3f000000u));
    unsigned own = bits & 0x7fffffffu;
    return static_cast<uint16_t>(sign | ((own - (112u << 23) + 0xfff + (own >> 13 & 1)) >> 13));
}
inline float bfloat_to_float(uint16_t bits) { return __uint_as_float(unsigned(bits) << 16); }
inline uint16_t float_to_bfloat(float value) {
    unsigned bits = __float_as_uint(value);
    if (value != value) return 0x7fff;
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
// Cut off towards 0, with its last bit set if that was inexact: what is rounded to fewer bits then
// is as if it had been rounded once.
inline float to_odd_float(double value) {
    float near = static_cast<float>(value);
    if (value != value || near == value) return near;
    unsigned bits = __float_as_uint(near);
    if (fabs(double(near)) > fabs(value)) bits -= 1;
    return __uint_as_float(bits | 1);
}
// a b + c of sixteen bits each, in the same way. The product is exact.
inline double fused(float a, float b, float c) {
    double product = double(a) * b, sum = product + c;
    if (!(fabs(sum) < INFINITY)) return sum;
    double back = sum - product, rest = (product - (sum - back)) + (c - back);
    if (rest == 0) return sum;
    long long bits = __double_as_longlong(sum);
    if ((rest > 0) != (sum > 0)) bits -= 1;
    return __longlong_as_double(bits | 1);
}
} // namespace cuda_on_cpu

#define CUDA_ON_CPU_SIXTEEN(NAME, RAW, TO_FLOAT, FROM_FLOAT)                                   \
    struct RAW {                                                                               \
        unsigned short x;                                                                      \
    };                                                                                         \
    struct NAME {                                                                              \
        unsigned short bits;                                                                   \
        NAME() = default;                                                                      \
        NAME(float v) : bits(cuda_on_cpu::FROM_FLOAT(v)) {}                                    \
        NAME(double v) : NAME(cuda_on_cpu::to_odd_float(v)) {}                                 \
        NAME(int v) : NAME(static_cast<double>(v)) {}                                          \
        NAME(unsigned v) : NAME(static_cast<double>(v)) {}                                     \
        NAME(long v) : NAME(static_cast<double>(v)) {}                                         \
        NAME(long long v) : NAME(static_cast<double>(v)) {}                                    \
        NAME(unsigned long v) : NAME(static_cast<double>(v)) {}                                \
        NAME(unsigned long long v) : NAME(static_cast<double>(v)) {}                           \
        NAME(RAW v) : bits(v.x) {}                                                             \
        operator float() const { return cuda_on_cpu::TO_FLOAT(bits); }                         \
        operator RAW() const { return {bits}; }                                                \
        NAME &operator+=(NAME b) { return *this = NAME(float(*this) + float(b)); }             \
        NAME &operator-=(NAME b) { return *this = NAME(float(*this) - float(b)); }             \
        NAME &operator*=(NAME b) { return *this = NAME(float(*this) * float(b)); }             \
        NAME &operator/=(NAME b) { return *this = NAME(float(*this) / float(b)); }             \
    };                                                                                         \
    inline NAME operator+(NAME a, NAME b) { return NAME(float(a) + float(b)); }                \
    inline NAME operator-(NAME a, NAME b) { return NAME(float(a) - float(b)); }                \
    inline NAME operator*(NAME a, NAME b) { return NAME(float(a) * float(b)); }                \
    inline NAME operator/(NAME a, NAME b) { return NAME(float(a) / float(b)); }                \
    inline NAME operator-(NAME a) { return NAME(-float(a)); }                                  \
    inline bool operator==(NAME a, NAME b) { return float(a) == float(b); }                    \
    inline bool operator!=(NAME a, NAME b) { return float(a) != float(b); }                    \
    inline bool operator<(NAME a, NAME b) { return float(a) < float(b); }                      \
    inline bool operator>(NAME a, NAME b) { return float(a) > float(b); }                      \
    inline bool operator<=(NAME a, NAME b) { return float(a) <= float(b); }                    \
    inline bool operator>=(NAME a, NAME b) { return float(a) >= float(b); }                    \
    struct alignas(4) NAME##2 {                                                                \
        NAME x, y;                                                                             \
        NAME##2() = default;                                                                   \
        NAME##2(NAME x, NAME y) : x(x), y(y) {}                                                \
    };                                                                                         \
    inline NAME##2 operator+(NAME##2 a, NAME##2 b) { return {a.x + b.x, a.y + b.y}; }          \
    inline NAME##2 operator-(NAME##2 a, NAME##2 b) { return {a.x - b.x, a.y - b.y}; }          \
    inline NAME##2 operator*(NAME##2 a, NAME##2 b) { return {a.x * b.x, a.y * b.y}; }          \
    inline NAME##2 operator/(NAME##2 a, NAME##2 b) { return {a.x / b.x, a.y / b.y}; }          \
    inline NAME __hadd(NAME a, NAME b) { return a + b; }                                       \
    inline NAME __hsub(NAME a, NAME b) { return a - b; }                                       \
    inline NAME __hmul(NAME a, NAME b) { return a * b; }                                       \
    inline NAME __hdiv(NAME a, NAME b) { return a / b; }                                       \
    inline NAME __hneg(NAME a) { return -a; }                                                  \
    inline NAME __habs(NAME a) { return NAME(fabsf(float(a))); }                               \
    inline NAME __hfma(NAME a, NAME b, NAME c) { return NAME(cuda_on_cpu::fused(a, b, c)); }   \
    inline NAME __hmax(NAME a, NAME b) { return NAME(fmaxf(a, b)); }                           \
    inline NAME __hmin(NAME a, NAME b) { return NAME(fminf(a, b)); }                           \
    inline bool __heq(NAME a, NAME b) { return a == b; }                                       \
    inline bool __hne(NAME a, NAME b) { return a < b || a > b; } /* not of what is no number */\
    inline bool __hlt(NAME a, NAME b) { return a < b; }                                        \
    inline bool __hle(NAME a, NAME b) { return a <= b; }                                       \
    inline bool __hgt(NAME a, NAME b) { return a > b; }                                        \
    inline bool __hge(NAME a, NAME b) { return a >= b; }                                       \
    inline bool __hisnan(NAME a) { return a != a; }                                            \
    inline NAME hexp(NAME a) { return NAME(expf(a)); }                                         \
    inline NAME hlog(NAME a) { return NAME(logf(a)); }                                         \
    inline NAME hsqrt(NAME a) { return NAME(sqrtf(a)); }                                       \
    inline NAME hrsqrt(NAME a) { return NAME(rsqrtf(a)); }                                     \
    inline NAME hrcp(NAME a) { return NAME(1.0f / float(a)); }                                 \
    inline NAME hsin(NAME a) { return NAME(sinf(a)); }                                         \
    inline NAME hcos(NAME a) { return NAME(cosf(a)); }                                         \
    inline NAME##2 __hadd2(NAME##2 a, NAME##2 b) { return a + b; }                             \
    inline NAME##2 __hsub2(NAME##2 a, NAME##2 b) { return a - b; }                             \
    inline NAME##2 __hmul2(NAME##2 a, NAME##2 b) { return a * b; }                             \
    inline NAME##2 __hfma2(NAME##2 a, NAME##2 b, NAME##2 c) {                                  \
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                 \
    }                                                                                          \
    inline NAME##2 __hmax2(NAME##2 a, NAME##2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; } \
    inline NAME##2 __hmin2(NAME##2 a, NAME##2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; } \
    inline float __low2float(NAME##2 a) { return a.x; }                                        \
    inline float __high2float(NAME##2 a) { return a.y; }

CUDA_ON_CPU_SIXTEEN(__half, __half_raw, half_to_float, float_to_half)
CUDA_ON_CPU_SIXTEEN(__nv_bfloat16, __nv_bfloat16_raw, bfloat_to_float, float_to_bfloat)
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }
inline float __half2float(__half x) { return x; }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }
inline short __half_as_short(__half x) { return static_cast<short>(x.bits); }
inline __half __ushort_as_half(unsigned short x) { return __half_raw{x}; }
inline __half __short_as_half(short x) { return __half_raw{static_cast<unsigned short>(x)}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 x) { return {__half(x.x), __half(x.y)}; }
inline float2 __half22float2(__half2 x) { return {x.x, x.y}; }
inline __half __low2half(__half2 x) { return x.x; }
inline __half __high2half(__half2 x) { return x.y; }

inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return x; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16_raw{x}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {__nv_bfloat16(x), __nv_bfloat16(x)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return {__nv_bfloat16(x), __nv_bfloat16(y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 x) {
    return {__nv_bfloat16(x.x), __nv_bfloat16(x.y)};
}
inline float2 __bfloat1622float2(__nv_bfloat162 x) { return {x.x, x.y}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x) { return x.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x) { return x.y; }
