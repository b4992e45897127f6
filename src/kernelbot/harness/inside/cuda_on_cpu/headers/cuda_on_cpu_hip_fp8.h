// HIP's 8-bit floating point: FNUZ, as on MI300X, and OCP's, as on MI355X.
#pragma once

enum __hip_saturation_t { __HIP_NOSAT, __HIP_SATFINITE };
enum __hip_fp8_interpretation_t { __HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ };
using __hip_fp8_storage_t = uint8_t;
using __hip_fp8x2_storage_t = uint16_t;
using __hip_fp8x4_storage_t = uint32_t;

namespace cuda_on_cpu {
// FNUZ has one NaN, where the others have a negative zero, and no infinity; OCP's E4M3 has none either.
struct Eight {
    int fraction_bits, bias;
    bool is_fnuz, has_infinity;
    constexpr uint8_t largest() const {
        return is_fnuz ? 0x7f : has_infinity ? 0x7b : 0x7e;
    }
    constexpr uint8_t nan() const { return is_fnuz ? 0x80 : 0x7f; }
};
constexpr Eight eight_of(__hip_fp8_interpretation_t kind) {
    switch (kind) {
    case __HIP_E4M3: return {3, 7, false, false};
    case __HIP_E5M2: return {2, 15, false, true};
    case __HIP_E4M3_FNUZ: return {3, 8, true, false};
    default: return {2, 16, true, false};
    }
}
inline float eight_to_float(uint8_t bits, Eight kind) {
    int size = bits & 0x7f, fraction = size & ((1 << kind.fraction_bits) - 1);
    int exponent = size >> kind.fraction_bits;
    float sign = bits & 0x80 ? -1.0f : 1.0f;
    if (kind.is_fnuz ? bits == 0x80 : size > kind.largest()) {
        bool is_infinite = kind.has_infinity && fraction == 0;
        return sign * (is_infinite ? INFINITY : NAN);
    }
    if (exponent == 0) return sign * ldexpf(float(fraction), 1 - kind.bias - kind.fraction_bits);
    int whole = fraction | 1 << kind.fraction_bits;
    return sign * ldexpf(float(whole), exponent - kind.bias - kind.fraction_bits);
}
inline uint8_t beyond(uint8_t sign, bool is_infinite, Eight kind, __hip_saturation_t how) {
    if (how == __HIP_SATFINITE && !(is_infinite && kind.is_fnuz)) return sign | kind.largest();
    if (kind.is_fnuz) return kind.nan();
    return sign | (kind.has_infinity ? 0x7c : kind.nan());
}
// Rounds to the nearest, of two equally near ones to the even one.
inline uint8_t float_to_eight(float value, Eight kind, __hip_saturation_t how) {
    uint8_t sign = std::signbit(value) ? 0x80 : 0;
    if (value != value) return kind.is_fnuz ? kind.nan() : sign | kind.nan();
    float size = fabsf(value);
    if (size == 0) return kind.is_fnuz ? 0 : sign;
    if (std::isinf(size)) return beyond(sign, true, kind, how);
    int exponent = 0;
    frexpf(size, &exponent); // size = m * 2 ** exponent with 0.5 <= m < 1
    exponent = std::max(exponent - 1, 1 - kind.bias);
    float steps = nearbyintf(ldexpf(size, kind.fraction_bits - exponent));
    int bits = static_cast<int>(steps);
    // a normal number's first digit adds 1 to the exponent's field, and a fraction too large as well
    bits += (exponent + kind.bias - 1) << kind.fraction_bits;
    if (bits > kind.largest()) return beyond(sign, false, kind, how);
    return bits == 0 && kind.is_fnuz ? 0 : sign | bits;
}
} // namespace cuda_on_cpu

inline __hip_fp8_storage_t __hip_cvt_float_to_fp8(float x, __hip_saturation_t how,
                                                  __hip_fp8_interpretation_t kind) {
    return cuda_on_cpu::float_to_eight(x, cuda_on_cpu::eight_of(kind), how);
}
inline __hip_fp8_storage_t __hip_cvt_double_to_fp8(double x, __hip_saturation_t how,
                                                   __hip_fp8_interpretation_t kind) {
    return __hip_cvt_float_to_fp8(static_cast<float>(x), how, kind);
}
inline __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 x, __hip_saturation_t how,
                                                       __hip_fp8_interpretation_t kind) {
    unsigned low = __hip_cvt_float_to_fp8(x.x, how, kind);
    unsigned high = __hip_cvt_float_to_fp8(x.y, how, kind);
    return static_cast<__hip_fp8x2_storage_t>(high << 8 | low);
}
inline __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x, __hip_fp8_interpretation_t kind) {
    return __half(cuda_on_cpu::eight_to_float(x, cuda_on_cpu::eight_of(kind)));
}

#define CUDA_ON_CPU_EIGHT(NAME, KIND)                                                          \
    struct NAME {                                                                              \
        __hip_fp8_storage_t __x;                                                               \
        static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;            \
        static constexpr __hip_fp8_interpretation_t __default_interpret = KIND;                \
        NAME() = default;                                                                      \
        NAME(float v) : __x(__hip_cvt_float_to_fp8(v, __HIP_SATFINITE, KIND)) {}               \
        NAME(double v) : NAME(static_cast<float>(v)) {}                                        \
        NAME(int v) : NAME(static_cast<float>(v)) {}                                           \
        NAME(unsigned v) : NAME(static_cast<float>(v)) {}                                      \
        NAME(long long v) : NAME(static_cast<float>(v)) {}                                     \
        NAME(__half v) : NAME(static_cast<float>(v)) {}                                        \
        NAME(__hip_bfloat16 v) : NAME(static_cast<float>(v)) {}                                \
        operator float() const {                                                               \
            return cuda_on_cpu::eight_to_float(__x, cuda_on_cpu::eight_of(KIND));              \
        }                                                                                      \
    };                                                                                         \
    static_assert(sizeof(NAME) == 1)
#define CUDA_ON_CPU_EIGHTS(NAME2, NAME4, NAME)                                                 \
    struct NAME2 {                                                                             \
        __hip_fp8x2_storage_t __x;                                                             \
        NAME2() = default;                                                                     \
        NAME2(float2 v) : __x(NAME(v.x).__x | NAME(v.y).__x << 8) {}                           \
        operator float2() const { return {part(0), part(1)}; }                                 \
                                                                                               \
      private:                                                                                 \
        float part(int at) const {                                                             \
            NAME one;                                                                          \
            one.__x = static_cast<uint8_t>(__x >> 8 * at);                                     \
            return one;                                                                        \
        }                                                                                      \
    };                                                                                         \
    struct NAME4 {                                                                             \
        __hip_fp8x4_storage_t __x;                                                             \
        NAME4() = default;                                                                     \
        NAME4(float4 v) : __x(NAME2(float2(v.x, v.y)).__x |                                    \
                              unsigned(NAME2(float2(v.z, v.w)).__x) << 16) {}                  \
        operator float4() const {                                                              \
            NAME2 low, high;                                                                   \
            low.__x = static_cast<uint16_t>(__x);                                              \
            high.__x = static_cast<uint16_t>(__x >> 16);                                       \
            float2 first = low, last = high;                                                   \
            return {first.x, first.y, last.x, last.y};                                         \
        }                                                                                      \
    }
CUDA_ON_CPU_EIGHT(__hip_fp8_e4m3, __HIP_E4M3);
CUDA_ON_CPU_EIGHT(__hip_fp8_e5m2, __HIP_E5M2);
CUDA_ON_CPU_EIGHT(__hip_fp8_e4m3_fnuz, __HIP_E4M3_FNUZ);
CUDA_ON_CPU_EIGHT(__hip_fp8_e5m2_fnuz, __HIP_E5M2_FNUZ);
CUDA_ON_CPU_EIGHTS(__hip_fp8x2_e4m3, __hip_fp8x4_e4m3, __hip_fp8_e4m3);
CUDA_ON_CPU_EIGHTS(__hip_fp8x2_e5m2, __hip_fp8x4_e5m2, __hip_fp8_e5m2);
CUDA_ON_CPU_EIGHTS(__hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz, __hip_fp8_e4m3_fnuz);
CUDA_ON_CPU_EIGHTS(__hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz, __hip_fp8_e5m2_fnuz);
