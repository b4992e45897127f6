// Stands in for HIP's 8-bit floating point where ROCm isn't installed: by the GPU's own conversions.
#pragma once
#include "kernelbot_half.h"

enum __hip_saturation_t { __HIP_NOSAT, __HIP_SATFINITE };
enum __hip_fp8_interpretation_t { __HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ };
using __hip_fp8_storage_t = unsigned char;
using __hip_fp8x2_storage_t = unsigned short;
using __hip_fp8x4_storage_t = unsigned int;

#pragma clang force_cuda_host_device begin
namespace kernelbot_hip {
// A GPU has the instructions of one of both families: of the other one they stand for code alike.
constexpr bool is_e5m2(__hip_fp8_interpretation_t kind) {
    return kind == __HIP_E5M2 || kind == __HIP_E5M2_FNUZ;
}
inline unsigned from_floats(float x, float y, bool e5m2) {
#ifdef __HIP_DEVICE_COMPILE__
    return e5m2 ? __builtin_amdgcn_cvt_pk_bf8_f32(x, y, 0, false)
                : __builtin_amdgcn_cvt_pk_fp8_f32(x, y, 0, false);
#else
    return static_cast<unsigned>(x + y) + e5m2;
#endif
}
inline float to_float(unsigned bits, bool e5m2) {
#ifdef __HIP_DEVICE_COMPILE__
    return e5m2 ? __builtin_amdgcn_cvt_f32_bf8(bits, 0) : __builtin_amdgcn_cvt_f32_fp8(bits, 0);
#else
    return static_cast<float>(bits + e5m2);
#endif
}
} // namespace kernelbot_hip

inline __hip_fp8_storage_t __hip_cvt_float_to_fp8(float x, __hip_saturation_t,
                                                  __hip_fp8_interpretation_t kind) {
    return kernelbot_hip::from_floats(x, x, kernelbot_hip::is_e5m2(kind));
}
inline __hip_fp8_storage_t __hip_cvt_double_to_fp8(double x, __hip_saturation_t how,
                                                   __hip_fp8_interpretation_t kind) {
    return __hip_cvt_float_to_fp8(static_cast<float>(x), how, kind);
}
inline __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 x, __hip_saturation_t,
                                                       __hip_fp8_interpretation_t kind) {
    return kernelbot_hip::from_floats(x.x, x.y, kernelbot_hip::is_e5m2(kind));
}
inline __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t x, __hip_fp8_interpretation_t kind) {
    return __float2half(kernelbot_hip::to_float(x, kernelbot_hip::is_e5m2(kind)));
}

#define KERNELBOT_EIGHT(NAME, NAME2, NAME4, KIND)                                              \
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
        NAME(__half v) : NAME(__half2float(v)) {}                                              \
        NAME(__hip_bfloat16 v) : NAME(__bfloat162float(v)) {}                                  \
        operator float() const {                                                               \
            return kernelbot_hip::to_float(__x, kernelbot_hip::is_e5m2(KIND));                 \
        }                                                                                      \
    };                                                                                         \
    struct NAME2 {                                                                             \
        __hip_fp8x2_storage_t __x;                                                             \
        NAME2() = default;                                                                     \
        NAME2(float2 v) : __x(__hip_cvt_float2_to_fp8x2(v, __HIP_SATFINITE, KIND)) {}          \
        operator float2() const { return {part(0), part(1)}; }                                 \
                                                                                               \
      private:                                                                                 \
        float part(int at) const {                                                             \
            return kernelbot_hip::to_float(__x >> 8 * at & 255, kernelbot_hip::is_e5m2(KIND)); \
        }                                                                                      \
    };                                                                                         \
    struct NAME4 {                                                                             \
        __hip_fp8x4_storage_t __x;                                                             \
        NAME4() = default;                                                                     \
        NAME4(float4 v)                                                                        \
            : __x(NAME2(float2{v.x, v.y}).__x | unsigned(NAME2(float2{v.z, v.w}).__x) << 16) {} \
        operator float4() const {                                                              \
            NAME2 low, high;                                                                   \
            low.__x = static_cast<unsigned short>(__x);                                        \
            high.__x = static_cast<unsigned short>(__x >> 16);                                 \
            float2 first = low, last = high;                                                   \
            return {first.x, first.y, last.x, last.y};                                         \
        }                                                                                      \
    };
KERNELBOT_EIGHT(__hip_fp8_e4m3, __hip_fp8x2_e4m3, __hip_fp8x4_e4m3, __HIP_E4M3)
KERNELBOT_EIGHT(__hip_fp8_e5m2, __hip_fp8x2_e5m2, __hip_fp8x4_e5m2, __HIP_E5M2)
KERNELBOT_EIGHT(__hip_fp8_e4m3_fnuz, __hip_fp8x2_e4m3_fnuz, __hip_fp8x4_e4m3_fnuz, __HIP_E4M3_FNUZ)
KERNELBOT_EIGHT(__hip_fp8_e5m2_fnuz, __hip_fp8x2_e5m2_fnuz, __hip_fp8x4_e5m2_fnuz, __HIP_E5M2_FNUZ)
#pragma clang force_cuda_host_device end
