// Stands in for HIP's cooperative groups of a block and of tiles of a warp where ROCm isn't installed.
#pragma once
#include <hip/hip_runtime.h>

namespace cooperative_groups {
class thread_block {
  public:
    __device__ static void sync() { __syncthreads(); }
    __device__ static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ static unsigned num_threads() { return size(); }
    __device__ static unsigned thread_rank() {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    __device__ static dim3 group_index() { return blockIdx; }
    __device__ static dim3 thread_index() { return threadIdx; }
    __device__ static dim3 group_dim() { return blockDim; }
};
__device__ inline thread_block this_thread_block() { return {}; }

template <unsigned SIZE, class Parent = void> class thread_block_tile {
    static_assert(SIZE && (SIZE & (SIZE - 1)) == 0 && SIZE <= 64,
                  "a tile has a power of two of threads, at most a warp");

  public:
    __device__ static void sync() { __builtin_amdgcn_wave_barrier(); }
    __device__ static constexpr unsigned size() { return SIZE; }
    __device__ static constexpr unsigned num_threads() { return SIZE; }
    __device__ static unsigned thread_rank() { return __lane_id() % SIZE; }
    __device__ static unsigned meta_group_size() { return (thread_block::size() + SIZE - 1) / SIZE; }
    __device__ static unsigned meta_group_rank() { return thread_block::thread_rank() / SIZE; }
    template <class T> __device__ static T shfl(T v, int from) { return __shfl(v, from, SIZE); }
    template <class T> __device__ static T shfl_down(T v, unsigned delta) {
        return __shfl_down(v, delta, SIZE);
    }
    template <class T> __device__ static T shfl_up(T v, unsigned delta) {
        return __shfl_up(v, delta, SIZE);
    }
    template <class T> __device__ static T shfl_xor(T v, int mask) {
        return __shfl_xor(v, mask, SIZE);
    }
    __device__ static unsigned long long ballot(int predicate) {
        constexpr unsigned long long all = SIZE == 64 ? ~0ull : (1ull << SIZE % 64) - 1;
        return __ballot(predicate) >> __lane_id() / SIZE * SIZE & all;
    }
    __device__ static int any(int predicate) { return ballot(predicate) != 0; }
    __device__ static int all(int predicate) { return ballot(!predicate) == 0; }
};
template <unsigned SIZE, class Parent>
__device__ inline thread_block_tile<SIZE, Parent> tiled_partition(const Parent &) {
    return {};
}
template <class Group> __device__ inline void sync(const Group &group) { group.sync(); }
} // namespace cooperative_groups
