// Right kernels, each with its host function; `cuda_mutants.py` makes wrong ones of them.

// kernel add
__global__ void add(const float *a, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + a[n + i];
}
extern "C" void run(const float *a, float *out, int n) { add<<<(n + 127) / 128, 128>>>(a, out, n); }

// kernel sum
__global__ void sum(const float *a, float *out, int n) {
    __shared__ float parts[4];
    float own = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own += a[i];
    for (int d = 16; d > 0; d /= 2) own += __shfl_down_sync(0xffffffff, own, d);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        own = 0;
        for (int i = 0; i < 4; ++i) own += parts[i];
        out[0] = own;
    }
}
extern "C" void run(const float *a, float *out, int n) { sum<<<1, 128>>>(a, out, n); }

// kernel tree
__global__ void tree(const float *a, float *out, int n) {
    __shared__ float parts[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    parts[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d) parts[threadIdx.x] += parts[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}
extern "C" void run(const float *a, float *out, int n) { tree<<<(n + 255) / 256, 256>>>(a, out, n); }

// kernel scan
__global__ void scan(const float *a, float *out, int n) {
    __shared__ float before[128];
    __shared__ float after[128];
    int t = threadIdx.x;
    int i = blockIdx.x * 128 + t;
    before[t] = i < n ? a[i] : 0;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        after[t] = t >= d ? before[t] + before[t - d] : before[t];
        __syncthreads();
        before[t] = after[t];
        __syncthreads();
    }
    if (i < n) out[i] = before[t];
}
extern "C" void run(const float *a, float *out, int n) { scan<<<(n + 127) / 128, 128>>>(a, out, n); }

// kernel transpose
__global__ void transpose(const float *a, float *out, int n) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    if (x < 30 && y < n / 30) tile[threadIdx.y][threadIdx.x] = a[y * 30 + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < n / 30 && y < 30) out[y * (n / 30) + x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" void run(const float *a, float *out, int n) {
    transpose<<<dim3(2, (n / 30 + 15) / 16), dim3(16, 16)>>>(a, out, n);
}

// kernel product
__global__ void product(const float *a, float *out, int n) {
    __shared__ float left[8][8];
    __shared__ float right[8][8];
    int x = blockIdx.x * 8 + threadIdx.x;
    int y = blockIdx.y * 8 + threadIdx.y;
    float own = 0;
    for (int from = 0; from < 29; from += 8) {
        int column = from + threadIdx.x;
        int row = from + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = y < 29 && column < 29 ? a[y * 29 + column] : 0;
        right[threadIdx.y][threadIdx.x] = row < 29 && x < 29 ? a[row * 29 + x] : 0;
        __syncthreads();
        for (int k = 0; k < 8; ++k) own += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    if (x < 29 && y < 29) out[y * 29 + x] = own;
}
extern "C" void run(const float *a, float *out, int n) {
    product<<<dim3(4, 4), dim3(8, 8)>>>(a, out, n);
}

// kernel histogram
__global__ void histogram(const float *a, float *out, int n) {
    __shared__ int counts[16];
    if (threadIdx.x < 16) counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&counts[int(a[i] * 16)], 1);
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = counts[threadIdx.x];
}
extern "C" void run(const float *a, float *out, int n) { histogram<<<1, 128>>>(a, out, n); }

// kernel smooth
__global__ void smooth(const float *a, float *out, int n) {
    extern __shared__ float near[];
    int i = blockIdx.x * 64 + threadIdx.x;
    near[threadIdx.x + 1] = i < n ? a[i] : 0;
    if (threadIdx.x == 0) near[0] = i > 0 ? a[i - 1] : 0;
    if (threadIdx.x == 63) near[65] = i + 1 < n ? a[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = near[threadIdx.x] + near[threadIdx.x + 1] + near[threadIdx.x + 2];
}
extern "C" void run(const float *a, float *out, int n) {
    smooth<<<(n + 63) / 64, 64, 66 * sizeof(float)>>>(a, out, n);
}
