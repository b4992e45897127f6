# No copy at all: refused, because the problem wants a fresh output.
def custom_kernel(data):
    return data
