// Right kernels of HIP's, each with its host function; `cuda_mutants.py --hip` makes wrong ones of them.

// kernel add
__global__ void __launch_bounds__(128) add(const float *a, float *out, int n) {
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i < n) out[i] = a[i] + a[n + i];
}
extern "C" void run(const float *a, float *out, int n) {
    hipLaunchKernelGGL(add, dim3((n + 127) / 128), dim3(128), 0, 0, a, out, n);
}

// kernel sum
__global__ void sum(const float *a, float *out, int n) {
    __shared__ float parts[4];
    float own = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own += a[i];
    for (int d = 32; d > 0; d /= 2) own += __shfl_down(own, d);
    if (threadIdx.x % 64 == 0) parts[threadIdx.x / 64] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        own = 0;
        for (int i = 0; i < 4; ++i) own += parts[i];
        out[0] = own;
    }
}
extern "C" void run(const float *a, float *out, int n) {
    hipLaunchKernelGGL(sum, dim3(1), dim3(256), 0, 0, a, out, n);
}

// kernel softmax
__global__ void softmax(const float *a, float *out, int n) {
    int row = blockIdx.x;
    float most = -1;
    for (int i = threadIdx.x; i < 90; i += 64) most = fmaxf(most, a[row * 90 + i]);
    for (int d = 32; d > 0; d /= 2) most = fmaxf(most, __shfl_xor(most, d));
    float sum = 0;
    for (int i = threadIdx.x; i < 90; i += 64) sum += expf(a[row * 90 + i] - most);
    for (int d = 32; d > 0; d /= 2) sum += __shfl_xor(sum, d);
    for (int i = threadIdx.x; i < 90; i += 64)
        out[row * 90 + i] = expf(a[row * 90 + i] - most) / sum;
}
extern "C" void run(const float *a, float *out, int n) {
    hipLaunchKernelGGL(softmax, dim3(n / 90), dim3(64), 0, 0, a, out, n);
}

// kernel compact
__global__ void compact(const float *a, float *out, int n) {
    __shared__ int totals[2];
    int i = threadIdx.x;
    int lane = i % 64;
    int wave = i / 64;
    bool wanted = a[i] > 0.5f;
    unsigned long long votes = __ballot(wanted);
    if (lane == 0) totals[wave] = __popcll(votes);
    __syncthreads();
    int place = __popcll(votes & ((1ull << lane) - 1)) + (wave > 0 ? totals[wave - 1] : 0);
    if (wanted) out[place] = a[i];
    if (i == 0) out[200] = totals[0] + totals[1];
}
extern "C" void run(const float *a, float *out, int n) {
    hipLaunchKernelGGL(compact, dim3(1), dim3(128), 0, 0, a, out, n);
}

// kernel scan
__global__ void scan(const float *a, float *out, int n) {
    __shared__ float parts[4];
    int t = threadIdx.x;
    int lane = t % 64;
    int wave = t / 64;
    float own = a[t];
    for (int d = 1; d < 64; d *= 2) {
        float other = __shfl_up(own, d);
        if (lane >= d) own += other;
    }
    if (lane == 63) parts[wave] = own;
    __syncthreads();
    for (int i = 0; i < wave; ++i) own += parts[i];
    out[t] = own;
}
extern "C" void run(const float *a, float *out, int n) {
    hipLaunchKernelGGL(scan, dim3(1), dim3(256), 0, 0, a, out, n);
}

// kernel product
__global__ void product(const float *a, float *out, int n) {
    __shared__ float left[16][17];
    __shared__ float right[16][17];
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    float own = 0;
    for (int from = 0; from < 29; from += 16) {
        int column = from + threadIdx.x;
        int row = from + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = y < 29 && column < 29 ? a[y * 29 + column] : 0;
        right[threadIdx.y][threadIdx.x] = row < 29 && x < 29 ? a[row * 29 + x] : 0;
        __syncthreads();
        for (int k = 0; k < 16; ++k) own += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (x < 29 && y < 29) out[y * 29 + x] = own;
}
extern "C" void run(const float *a, float *out, int n) {
    hipLaunchKernelGGL(product, dim3(2, 2), dim3(16, 16), 0, 0, a, out, n);
}

// kernel scaled
__global__ void scaled(const float *a, float *out, int n) {
    __shared__ float most[64];
    int from = blockIdx.x * 128;
    float own = 0;
    for (int i = threadIdx.x; i < 128; i += 64) own = fmaxf(own, from + i < n ? a[from + i] : 0);
    most[threadIdx.x] = own;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (threadIdx.x < d) most[threadIdx.x] = fmaxf(most[threadIdx.x], most[threadIdx.x + d]);
        __syncthreads();
    }
    float scale = most[0] / 240;
    for (int i = threadIdx.x; i < 128; i += 64)
        if (from + i < n) out[from + i] = float(__hip_fp8_e4m3_fnuz(a[from + i] / scale)) * scale;
}
extern "C" void run(const float *a, float *out, int n) {
    hipLaunchKernelGGL(scaled, dim3((n + 127) / 128), dim3(64), 0, 0, a, out, n);
}

// kernel histogram
__global__ void histogram(const float *a, float *out, int n) {
    HIP_DYNAMIC_SHARED(float, counts)
    if (threadIdx.x < 16) counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) unsafeAtomicAdd(&counts[int(a[i] * 16)], 1.0f);
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = counts[threadIdx.x];
}
extern "C" void run(const float *a, float *out, int n) {
    hipLaunchKernelGGL(histogram, dim3(1), dim3(128), 16 * sizeof(float), 0, a, out, n);
}
