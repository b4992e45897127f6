# style: slices, as the reference
# problem: stencil
def custom_kernel(grid):
    up, down = grid[:-2, 1:-1], grid[2:, 1:-1]
    left, right = grid[1:-1, :-2], grid[1:-1, 2:]
    return 0.25 * (up + down + left + right)
