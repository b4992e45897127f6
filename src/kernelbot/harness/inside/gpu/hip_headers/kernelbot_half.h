// Stands in for HIP's 16-bit floating point where ROCm isn't installed: clang's own types, by HIP's names.
#pragma once
#include <hip/hip_runtime.h>
#include <type_traits>

#pragma clang force_cuda_host_device begin

#define KERNELBOT_SIXTEEN(NAME, RAW, T)                                                        \
    struct RAW {                                                                               \
        union {                                                                                \
            T data;                                                                            \
            unsigned short x;                                                                  \
        };                                                                                     \
    };                                                                                         \
    struct NAME {                                                                              \
        union {                                                                                \
            T data;                                                                            \
            unsigned short __x;                                                                \
        };                                                                                     \
        NAME() = default;                                                                      \
        constexpr NAME(T v) : data(v) {}                                                       \
        NAME(const RAW &v) : data(v.data) {}                                                   \
        operator RAW() const { return RAW{{data}}; }                                           \
        KERNELBOT_CONVERSIONS(NAME, T)                                                         \
    };                                                                                         \
    struct alignas(4) NAME##2 {                                                                \
        NAME x, y;                                                                             \
        NAME##2() = default;                                                                   \
        NAME##2(NAME a, NAME b) : x(a), y(b) {}                                                \
    };                                                                                         \
    inline NAME __hadd(NAME a, NAME b) { return NAME(T(a.data + b.data)); }                    \
    inline NAME __hsub(NAME a, NAME b) { return NAME(T(a.data - b.data)); }                    \
    inline NAME __hmul(NAME a, NAME b) { return NAME(T(a.data * b.data)); }                    \
    inline NAME __hdiv(NAME a, NAME b) { return NAME(T(a.data / b.data)); }                    \
    inline NAME __hneg(NAME a) { return NAME(T(-a.data)); }                                    \
    inline NAME __habs(NAME a) { return NAME(T(__builtin_fabsf(float(a.data)))); }             \
    inline NAME __hfma(NAME a, NAME b, NAME c) { return NAME(T(a.data * b.data + c.data)); }   \
    inline bool __heq(NAME a, NAME b) { return a.data == b.data; }                             \
    inline bool __hne(NAME a, NAME b) { return a.data != b.data; }                             \
    inline bool __hlt(NAME a, NAME b) { return a.data < b.data; }                              \
    inline bool __hle(NAME a, NAME b) { return a.data <= b.data; }                             \
    inline bool __hgt(NAME a, NAME b) { return a.data > b.data; }                              \
    inline bool __hge(NAME a, NAME b) { return a.data >= b.data; }                             \
    inline bool __hisnan(NAME a) { return a.data != a.data; }                                  \
    inline NAME __hmax(NAME a, NAME b) { return __hgt(a, b) ? a : b; }                         \
    inline NAME __hmin(NAME a, NAME b) { return __hlt(a, b) ? a : b; }                         \
    inline NAME hexp(NAME a) { return NAME(T(__builtin_expf(float(a.data)))); }                \
    inline NAME hlog(NAME a) { return NAME(T(__builtin_logf(float(a.data)))); }                \
    inline NAME hsqrt(NAME a) { return NAME(T(__builtin_sqrtf(float(a.data)))); }              \
    inline NAME hrsqrt(NAME a) { return NAME(T(1.0f / __builtin_sqrtf(float(a.data)))); }      \
    inline NAME hrcp(NAME a) { return NAME(T(1.0f / float(a.data))); }                         \
    inline NAME hsin(NAME a) { return NAME(T(__builtin_sinf(float(a.data)))); }                \
    inline NAME hcos(NAME a) { return NAME(T(__builtin_cosf(float(a.data)))); }                \
    KERNELBOT_PAIRS(NAME, __hadd)                                                              \
    KERNELBOT_PAIRS(NAME, __hsub)                                                              \
    KERNELBOT_PAIRS(NAME, __hmul)                                                              \
    KERNELBOT_PAIRS(NAME, __hmax)                                                              \
    KERNELBOT_PAIRS(NAME, __hmin)                                                              \
    inline NAME##2 __hfma2(NAME##2 a, NAME##2 b, NAME##2 c) {                                  \
        return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                 \
    }                                                                                          \
    inline float __low2float(NAME##2 a) { return float(a.x.data); }                            \
    inline float __high2float(NAME##2 a) { return float(a.y.data); }                           \
    __device__ inline NAME __shfl(NAME v, int from, int width = warpSize) {                    \
        return NAME(RAW{.x = static_cast<unsigned short>(__shfl(int(v.__x), from, width))});   \
    }                                                                                          \
    __device__ inline NAME __shfl_xor(NAME v, int mask, int width = warpSize) {                \
        return NAME(RAW{.x = static_cast<unsigned short>(__shfl_xor(int(v.__x), mask, width))}); \
    }                                                                                          \
    __device__ inline NAME __shfl_down(NAME v, unsigned delta, int width = warpSize) {         \
        return NAME(RAW{.x = static_cast<unsigned short>(__shfl_down(int(v.__x), delta, width))}); \
    }                                                                                          \
    __device__ inline NAME __shfl_up(NAME v, unsigned delta, int width = warpSize) {           \
        return NAME(RAW{.x = static_cast<unsigned short>(__shfl_up(int(v.__x), delta, width))}); \
    }
#define KERNELBOT_PAIRS(NAME, F)                                                               \
    inline NAME##2 F##2(NAME##2 a, NAME##2 b) { return {F(a.x, b.x), F(a.y, b.y)}; }
#define KERNELBOT_OPERATORS(NAME)                                                              \
    inline NAME operator+(NAME a, NAME b) { return __hadd(a, b); }                             \
    inline NAME operator-(NAME a, NAME b) { return __hsub(a, b); }                             \
    inline NAME operator*(NAME a, NAME b) { return __hmul(a, b); }                             \
    inline NAME operator/(NAME a, NAME b) { return __hdiv(a, b); }                             \
    inline NAME operator-(NAME a) { return __hneg(a); }                                        \
    inline NAME &operator+=(NAME &a, NAME b) { return a = a + b; }                             \
    inline NAME &operator-=(NAME &a, NAME b) { return a = a - b; }                             \
    inline NAME &operator*=(NAME &a, NAME b) { return a = a * b; }                             \
    inline NAME &operator/=(NAME &a, NAME b) { return a = a / b; }                             \
    inline bool operator==(NAME a, NAME b) { return __heq(a, b); }                             \
    inline bool operator!=(NAME a, NAME b) { return __hne(a, b); }                             \
    inline bool operator<(NAME a, NAME b) { return __hlt(a, b); }                              \
    inline bool operator<=(NAME a, NAME b) { return __hle(a, b); }                             \
    inline bool operator>(NAME a, NAME b) { return __hgt(a, b); }                              \
    inline bool operator>=(NAME a, NAME b) { return __hge(a, b); }                             \
    inline NAME##2 operator+(NAME##2 a, NAME##2 b) { return __hadd2(a, b); }                   \
    inline NAME##2 operator-(NAME##2 a, NAME##2 b) { return __hsub2(a, b); }                   \
    inline NAME##2 operator*(NAME##2 a, NAME##2 b) { return __hmul2(a, b); }
#define KERNELBOT_FREE_CONVERSIONS(NAME, T)                                                    \
    template <class V, class = std::enable_if_t<std::is_arithmetic_v<V>>>                      \
    NAME(V v) : data(static_cast<T>(v)) {}                                                     \
    operator float() const { return static_cast<float>(data); }

// torch compiles extensions with both of these macros, which are for half alone.
#ifdef __HIP_NO_HALF_CONVERSIONS__
#define KERNELBOT_CONVERSIONS(NAME, T)
#else
#define KERNELBOT_CONVERSIONS KERNELBOT_FREE_CONVERSIONS
#endif
KERNELBOT_SIXTEEN(__half, __half_raw, _Float16)
#undef KERNELBOT_CONVERSIONS
#define KERNELBOT_CONVERSIONS KERNELBOT_FREE_CONVERSIONS
KERNELBOT_SIXTEEN(__hip_bfloat16, __hip_bfloat16_raw, __bf16)
#ifndef __HIP_NO_HALF_OPERATORS__
KERNELBOT_OPERATORS(__half)
#endif
KERNELBOT_OPERATORS(__hip_bfloat16)
using half = __half;
using half2 = __half2;
using hip_bfloat16 = __hip_bfloat16;

inline __half __float2half(float x) { return __half(static_cast<_Float16>(x)); }
inline __half __float2half_rn(float x) { return __float2half(x); }
inline __half __double2half(double x) { return __half(static_cast<_Float16>(x)); }
inline __half __int2half_rn(int x) { return __half(static_cast<_Float16>(x)); }
inline float __half2float(__half x) { return static_cast<float>(x.data); }
inline int __half2int_rn(__half x) { return static_cast<int>(__builtin_rintf(__half2float(x))); }
inline int __half2int_rz(__half x) { return static_cast<int>(__half2float(x)); }
inline unsigned short __half_as_ushort(__half x) { return x.__x; }
inline short __half_as_short(__half x) { return static_cast<short>(x.__x); }
inline __half __ushort_as_half(unsigned short x) { return __half(__half_raw{.x = x}); }
inline __half __short_as_half(short x) { return __ushort_as_half(static_cast<unsigned short>(x)); }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __float2half2_rn(float x) { return __half2half2(__float2half(x)); }
inline __half2 __floats2half2_rn(float x, float y) { return {__float2half(x), __float2half(y)}; }
inline __half2 __float22half2_rn(float2 x) { return __floats2half2_rn(x.x, x.y); }
inline float2 __half22float2(__half2 x) { return {__half2float(x.x), __half2float(x.y)}; }
inline __half __low2half(__half2 x) { return x.x; }
inline __half __high2half(__half2 x) { return x.y; }

inline __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(static_cast<__bf16>(x)); }
inline __hip_bfloat16 __float2bfloat16_rn(float x) { return __float2bfloat16(x); }
inline __hip_bfloat16 __double2bfloat16(double x) { return __float2bfloat16(static_cast<float>(x)); }
inline float __bfloat162float(__hip_bfloat16 x) { return static_cast<float>(x.data); }
inline unsigned short __bfloat16_as_ushort(__hip_bfloat16 x) { return x.__x; }
inline __hip_bfloat16 __ushort_as_bfloat16(unsigned short x) {
    return __hip_bfloat16(__hip_bfloat16_raw{.x = x});
}
inline __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
inline __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return {x, y}; }
inline __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 x) { return {x, x}; }
inline __hip_bfloat162 __float2bfloat162_rn(float x) {
    return __bfloat162bfloat162(__float2bfloat16(x));
}
inline __hip_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return {__float2bfloat16(x), __float2bfloat16(y)};
}
inline __hip_bfloat162 __float22bfloat162_rn(float2 x) { return __floats2bfloat162_rn(x.x, x.y); }
inline float2 __bfloat1622float2(__hip_bfloat162 x) {
    return {__bfloat162float(x.x), __bfloat162float(x.y)};
}
inline __hip_bfloat16 __low2bfloat16(__hip_bfloat162 x) { return x.x; }
inline __hip_bfloat16 __high2bfloat16(__hip_bfloat162 x) { return x.y; }

#pragma clang force_cuda_host_device end
