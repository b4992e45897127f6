#include <hip/hip_fp8.h>

__global__ void k(const __hip_fp8_e4m3_fnuz *a, __hip_fp8x4_e5m2_fnuz *fours, float *out, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    float4 four = fours[i];
    fours[i] = __hip_fp8x4_e5m2_fnuz(float4{four.w, four.z, four.y, four.x});
    out[i] = float(a[i]) + float(__hip_fp8_e4m3_fnuz(four.x));
}
