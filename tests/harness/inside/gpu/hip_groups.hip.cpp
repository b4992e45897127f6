#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;
__global__ void k(float *x) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    float sum = x[block.thread_rank()];
    for (int delta = tile.size() / 2; delta; delta /= 2) sum += tile.shfl_down(sum, delta);
    block.sync();
    if (tile.thread_rank() == 0 && tile.any(sum > 0)) x[tile.meta_group_rank()] = sum;
}
