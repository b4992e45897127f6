// What __half and __nv_bfloat16 have beside arithmetic: pairs as a whole, comparisons, results that are
// clamped or rounded in a direction, and integers.
#pragma once

namespace cuda_on_cpu {
// From 0 to 1. What is no number becomes 0.
template <class Sixteen> Sixteen clamped(Sixteen a) {
    float v = a;
    return v > 0.0f ? (v < 1.0f ? a : Sixteen(1.0f)) : Sixteen(0.0f);
}
template <class Sixteen> Sixteen not_negative(Sixteen a) { return float(a) < 0.0f ? Sixteen(0.0f) : a; }
template <class Sixteen> Sixteen with_bits(unsigned bits) {
    Sixteen made;
    made.bits = static_cast<unsigned short>(bits);
    return made;
}
// The next value above or below; of an infinity the largest one.
template <class Sixteen> Sixteen stepped(Sixteen a, bool up) {
    bool is_negative = a.bits & 0x8000;
    if ((a.bits & 0x7fff) == 0) return with_bits<Sixteen>(up ? 1u : 0x8001u);
    return with_bits<Sixteen>(a.bits + (up == is_negative ? -1 : 1));
}
// `above`, `below`: whether the result may lie there.
template <class Sixteen> Sixteen directed_sixteen(double x, bool above, bool below) {
    Sixteen near(x);
    double got = float(near);
    if (got > x && !above) return stepped(near, false);
    if (got < x && !below) return stepped(near, true);
    return near;
}
} // namespace cuda_on_cpu

#define CUDA_ON_CPU_PAIRED(NAME, ONE, TWO)                                                     \
    inline NAME##2 TWO(NAME##2 a) { return {ONE(a.x), ONE(a.y)}; }
#define CUDA_ON_CPU_PAIRED2(NAME, ONE, TWO)                                                    \
    inline NAME##2 TWO(NAME##2 a, NAME##2 b) { return {ONE(a.x, b.x), ONE(a.y, b.y)}; }
#define CUDA_ON_CPU_PAIRED3(NAME, ONE, TWO)                                                    \
    inline NAME##2 TWO(NAME##2 a, NAME##2 b, NAME##2 c) {                                      \
        return {ONE(a.x, b.x, c.x), ONE(a.y, b.y, c.y)};                                       \
    }
#define CUDA_ON_CPU_OF_SIXTEEN(NAME, ONE, TWO, CALL)                                           \
    inline NAME ONE(NAME a) { return NAME(CALL(float(a))); }                                   \
    CUDA_ON_CPU_PAIRED(NAME, ONE, TWO)
#define CUDA_ON_CPU_SIXTEEN_RESULT(NAME, OP, FN)                                               \
    inline NAME FN##_rn(NAME a, NAME b) { return a OP b; }                                     \
    inline NAME FN##_sat(NAME a, NAME b) { return cuda_on_cpu::clamped(a OP b); }              \
    CUDA_ON_CPU_PAIRED2(NAME, FN##_rn, FN##2_rn)                                               \
    CUDA_ON_CPU_PAIRED2(NAME, FN##_sat, FN##2_sat)
#define CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, KIND)                                               \
    inline NAME##2 __h##KIND##2(NAME##2 a, NAME##2 b) {                                        \
        return {NAME(__h##KIND(a.x, b.x) ? 1.0f : 0.0f), NAME(__h##KIND(a.y, b.y) ? 1.0f : 0.0f)}; \
    }                                                                                          \
    inline bool __hb##KIND##2(NAME##2 a, NAME##2 b) {                                          \
        return __h##KIND(a.x, b.x) && __h##KIND(a.y, b.y);                                     \
    }                                                                                          \
    inline unsigned __h##KIND##2_mask(NAME##2 a, NAME##2 b) {                                  \
        return (__h##KIND(a.x, b.x) ? 0xffffu : 0) | (__h##KIND(a.y, b.y) ? 0xffff0000u : 0);  \
    }

#define CUDA_ON_CPU_SIXTEEN_MORE(NAME)                                                         \
    inline NAME &operator++(NAME &a) { return a += NAME(1.0f); }                               \
    inline NAME &operator--(NAME &a) { return a -= NAME(1.0f); }                               \
    inline NAME##2 &operator+=(NAME##2 &a, NAME##2 b) { return a = a + b; }                    \
    inline NAME##2 &operator-=(NAME##2 &a, NAME##2 b) { return a = a - b; }                    \
    inline NAME##2 &operator*=(NAME##2 &a, NAME##2 b) { return a = a * b; }                    \
    inline NAME##2 &operator/=(NAME##2 &a, NAME##2 b) { return a = a / b; }                    \
    inline NAME##2 operator-(NAME##2 a) { return {-a.x, -a.y}; }                               \
    CUDA_ON_CPU_SIXTEEN_RESULT(NAME, +, __hadd)                                                \
    CUDA_ON_CPU_SIXTEEN_RESULT(NAME, -, __hsub)                                                \
    CUDA_ON_CPU_SIXTEEN_RESULT(NAME, *, __hmul)                                                \
    inline NAME __hfma_sat(NAME a, NAME b, NAME c) {                                           \
        return cuda_on_cpu::clamped(__hfma(a, b, c));                                          \
    }                                                                                          \
    inline NAME __hfma_relu(NAME a, NAME b, NAME c) {                                          \
        return cuda_on_cpu::not_negative(__hfma(a, b, c));                                     \
    }                                                                                          \
    CUDA_ON_CPU_PAIRED3(NAME, __hfma_sat, __hfma2_sat)                                         \
    CUDA_ON_CPU_PAIRED3(NAME, __hfma_relu, __hfma2_relu)                                       \
    inline NAME __hmax_nan(NAME a, NAME b) { return a != a || b != b ? NAME(NAN) : __hmax(a, b); } \
    inline NAME __hmin_nan(NAME a, NAME b) { return a != a || b != b ? NAME(NAN) : __hmin(a, b); } \
    CUDA_ON_CPU_PAIRED2(NAME, __hmax_nan, __hmax2_nan)                                         \
    CUDA_ON_CPU_PAIRED2(NAME, __hmin_nan, __hmin2_nan)                                         \
    CUDA_ON_CPU_PAIRED2(NAME, __hdiv, __h2div)                                                 \
    CUDA_ON_CPU_PAIRED(NAME, __hneg, __hneg2)                                                  \
    CUDA_ON_CPU_PAIRED(NAME, __habs, __habs2)                                                  \
    inline int __hisinf(NAME a) {                                                              \
        return fabsf(float(a)) < INFINITY || a != a ? 0 : float(a) > 0.0f ? 1 : -1;            \
    }                                                                                          \
    inline NAME##2 __hisnan2(NAME##2 a) {                                                      \
        return {NAME(__hisnan(a.x) ? 1.0f : 0.0f), NAME(__hisnan(a.y) ? 1.0f : 0.0f)};         \
    }                                                                                          \
    /* Of what is no number these are true, those without `u` false. */                        \
    inline bool __hequ(NAME a, NAME b) { return !(a < b || a > b); }                           \
    inline bool __hneu(NAME a, NAME b) { return !(a == b); }                                   \
    inline bool __hleu(NAME a, NAME b) { return !(a > b); }                                    \
    inline bool __hgeu(NAME a, NAME b) { return !(a < b); }                                    \
    inline bool __hltu(NAME a, NAME b) { return !(a >= b); }                                   \
    inline bool __hgtu(NAME a, NAME b) { return !(a <= b); }                                   \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, eq)                                                     \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, ne)                                                     \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, le)                                                     \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, ge)                                                     \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, lt)                                                     \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, gt)                                                     \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, equ)                                                    \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, neu)                                                    \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, leu)                                                    \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, geu)                                                    \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, ltu)                                                    \
    CUDA_ON_CPU_SIXTEEN_COMPARED(NAME, gtu)                                                    \
    inline bool operator==(NAME##2 a, NAME##2 b) { return __hbeq2(a, b); }                     \
    inline bool operator!=(NAME##2 a, NAME##2 b) { return __hbneu2(a, b); }                    \
    inline bool operator<(NAME##2 a, NAME##2 b) { return __hblt2(a, b); }                      \
    inline bool operator>(NAME##2 a, NAME##2 b) { return __hbgt2(a, b); }                      \
    inline bool operator<=(NAME##2 a, NAME##2 b) { return __hble2(a, b); }                     \
    inline bool operator>=(NAME##2 a, NAME##2 b) { return __hbge2(a, b); }                     \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, hceil, h2ceil, ceilf)                                         \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, hfloor, h2floor, floorf)                                      \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, htrunc, h2trunc, truncf)                                      \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, hrint, h2rint, nearbyintf)                                    \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, hexp2, h2exp2, exp2f)                                         \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, hexp10, h2exp10, __exp10f)                                    \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, hlog2, h2log2, log2f)                                         \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, hlog10, h2log10, log10f)                                      \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, htanh, h2tanh, tanhf)                                         \
    CUDA_ON_CPU_OF_SIXTEEN(NAME, htanh_approx, h2tanh_approx, tanhf)                           \
    CUDA_ON_CPU_PAIRED(NAME, hexp, h2exp)                                                      \
    CUDA_ON_CPU_PAIRED(NAME, hlog, h2log)                                                      \
    CUDA_ON_CPU_PAIRED(NAME, hsqrt, h2sqrt)                                                    \
    CUDA_ON_CPU_PAIRED(NAME, hrsqrt, h2rsqrt)                                                  \
    CUDA_ON_CPU_PAIRED(NAME, hrcp, h2rcp)                                                      \
    CUDA_ON_CPU_PAIRED(NAME, hsin, h2sin)                                                      \
    CUDA_ON_CPU_PAIRED(NAME, hcos, h2cos)                                                      \
    inline NAME##2 __lowhigh2highlow(NAME##2 a) { return {a.y, a.x}; }
CUDA_ON_CPU_SIXTEEN_MORE(__half)
CUDA_ON_CPU_SIXTEEN_MORE(__nv_bfloat16)

#define CUDA_ON_CPU_SIXTEEN_FROM(NAME, SHORT, T, FROM)                                         \
    inline NAME __##FROM##2##SHORT##_rz(T x) {                                                 \
        return cuda_on_cpu::directed_sixteen<NAME>(double(x), x < 0, x > 0);                   \
    }                                                                                          \
    inline NAME __##FROM##2##SHORT##_rd(T x) {                                                 \
        return cuda_on_cpu::directed_sixteen<NAME>(double(x), false, true);                    \
    }                                                                                          \
    inline NAME __##FROM##2##SHORT##_ru(T x) {                                                 \
        return cuda_on_cpu::directed_sixteen<NAME>(double(x), true, false);                    \
    }
#define CUDA_ON_CPU_SIXTEEN_INTEGER(NAME, SHORT, T, KIND)                                      \
    inline T __##SHORT##2##KIND##_rn(NAME a) {                                                 \
        return cuda_on_cpu::rounded<T>(nearbyintf(a));                                         \
    }                                                                                          \
    inline T __##SHORT##2##KIND##_rz(NAME a) { return cuda_on_cpu::rounded<T>(truncf(a)); }    \
    inline T __##SHORT##2##KIND##_rd(NAME a) { return cuda_on_cpu::rounded<T>(floorf(a)); }    \
    inline T __##SHORT##2##KIND##_ru(NAME a) { return cuda_on_cpu::rounded<T>(ceilf(a)); }     \
    inline NAME __##KIND##2##SHORT##_rn(T x) { return NAME(double(x)); }                       \
    CUDA_ON_CPU_SIXTEEN_FROM(NAME, SHORT, T, KIND)
#define CUDA_ON_CPU_SIXTEEN_CONVERTED(NAME, SHORT)                                             \
    CUDA_ON_CPU_SIXTEEN_INTEGER(NAME, SHORT, short, short)                                     \
    CUDA_ON_CPU_SIXTEEN_INTEGER(NAME, SHORT, unsigned short, ushort)                           \
    CUDA_ON_CPU_SIXTEEN_INTEGER(NAME, SHORT, int, int)                                         \
    CUDA_ON_CPU_SIXTEEN_INTEGER(NAME, SHORT, unsigned, uint)                                   \
    CUDA_ON_CPU_SIXTEEN_INTEGER(NAME, SHORT, long long, ll)                                    \
    CUDA_ON_CPU_SIXTEEN_INTEGER(NAME, SHORT, unsigned long long, ull)                          \
    CUDA_ON_CPU_SIXTEEN_FROM(NAME, SHORT, float, float)                                        \
    inline signed char __##SHORT##2char_rz(NAME a) {                                           \
        return cuda_on_cpu::rounded<signed char>(truncf(a));                                   \
    }                                                                                          \
    inline unsigned char __##SHORT##2uchar_rz(NAME a) {                                        \
        return cuda_on_cpu::rounded<unsigned char>(truncf(a));                                 \
    }                                                                                          \
    inline NAME##2 __low2##SHORT##2(NAME##2 a) { return {a.x, a.x}; }                          \
    inline NAME##2 __high2##SHORT##2(NAME##2 a) { return {a.y, a.y}; }                         \
    inline NAME##2 __lows2##SHORT##2(NAME##2 a, NAME##2 b) { return {a.x, b.x}; }              \
    inline NAME##2 __highs2##SHORT##2(NAME##2 a, NAME##2 b) { return {a.y, b.y}; }
CUDA_ON_CPU_SIXTEEN_CONVERTED(__half, half)
CUDA_ON_CPU_SIXTEEN_CONVERTED(__nv_bfloat16, bfloat16)
inline short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.bits); }
inline __nv_bfloat16 __short_as_bfloat16(short x) {
    return cuda_on_cpu::with_bits<__nv_bfloat16>(static_cast<unsigned short>(x));
}

#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3c00)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7bff)
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7fff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7f)
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fff)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000)
