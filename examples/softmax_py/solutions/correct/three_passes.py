# Maximum, sum, division: each its own pass over memory.
def custom_kernel(data):
    shifted = (data - data.amax(dim=-1, keepdim=True)).exp()
    return shifted / shifted.sum(dim=-1, keepdim=True)
