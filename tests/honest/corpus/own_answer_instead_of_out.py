# style: ignores the vector and returns its own
# problem: out
def custom_kernel(data):
    x, _ = data
    return x * 3
