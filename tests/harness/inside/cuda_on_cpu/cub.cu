// What test_cub.py calls.
#include <cub/cub.cuh>

constexpr int THREADS = 96, ITEMS = 3;

template <class T> __global__ void reduce(const T *a, T *out) {
    using Reduce = cub::BlockReduce<T, THREADS>;
    __shared__ typename Reduce::TempStorage temp;
    T value = a[threadIdx.x];
    T sum = Reduce(temp).Sum(value);
    __syncthreads();
    T most = Reduce(temp).Reduce(value, cub::Max());
    __syncthreads();
    T some = Reduce(temp).Sum(value, 10);
    if (threadIdx.x == 0) out[0] = sum, out[1] = most, out[2] = some;
}
extern "C" void run_reduce(const float *a, float *out) { reduce<<<1, THREADS>>>(a, out); }

__global__ void best(const float *a, int *out) {
    using Pair = cub::KeyValuePair<int, float>;
    __shared__ cub::BlockReduce<Pair, THREADS>::TempStorage temp;
    Pair own{int(threadIdx.x), a[threadIdx.x]};
    Pair found = cub::BlockReduce<Pair, THREADS>(temp).Reduce(own, cub::ArgMax());
    if (threadIdx.x == 0) out[0] = found.key;
}
extern "C" void run_best(const float *a, int *out) { best<<<1, THREADS>>>(a, out); }

__global__ void scan(const int *a, int *out) {
    using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<int, THREADS>;
    __shared__ union {
        Load::TempStorage load;
        Store::TempStorage store;
        Scan::TempStorage scan;
    } temp;
    int all, items[ITEMS], before[ITEMS], most;
    Load(temp.load).Load(a, items, THREADS * ITEMS - 5, -1);
    __syncthreads();
    Scan(temp.scan).ExclusiveSum(items, before, all);
    __syncthreads();
    Store(temp.store).Store(out, before);
    __syncthreads();
    Scan(temp.scan).InclusiveSum(items, items);
    __syncthreads();
    Store(temp.store).Store(out + THREADS * ITEMS, items);
    __syncthreads();
    Scan(temp.scan).ExclusiveScan(a[threadIdx.x], most, -1, cub::Max());
    out[2 * THREADS * ITEMS + threadIdx.x] = most;
    if (threadIdx.x == 0) out[2 * THREADS * ITEMS + THREADS] = all;
}
extern "C" void run_scan(const int *a, int *out) { scan<<<1, THREADS>>>(a, out); }

__global__ void warps(const int *a, int *out) {
    __shared__ cub::WarpReduce<int, 16>::TempStorage reduce[THREADS / 16];
    __shared__ cub::WarpScan<int>::TempStorage scan[THREADS / 32];
    int value = a[threadIdx.x], before, upto;
    int sum = cub::WarpReduce<int, 16>(reduce[threadIdx.x / 16]).Sum(value);
    cub::WarpScan<int>(scan[threadIdx.x / 32]).ExclusiveSum(value, before);
    cub::WarpScan<int>(scan[threadIdx.x / 32]).InclusiveSum(value, upto);
    if (threadIdx.x % 16 == 0) out[threadIdx.x / 16] = sum;
    out[THREADS + threadIdx.x] = before;
    out[2 * THREADS + threadIdx.x] = upto;
}
extern "C" void run_warps(const int *a, int *out) { warps<<<1, THREADS>>>(a, out); }

// Without a barrier between two uses of one storage.
__global__ void reused(const float *a, float *out) {
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ Reduce::TempStorage temp;
    float sum = Reduce(temp).Sum(a[threadIdx.x]);
    float twice = Reduce(temp).Sum(2 * a[threadIdx.x]);
    if (threadIdx.x == 0) out[0] = sum, out[1] = twice;
}
extern "C" void run_reused(const float *a, float *out) { reused<<<1, THREADS>>>(a, out); }
