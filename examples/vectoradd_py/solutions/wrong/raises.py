def custom_kernel(data):
    a, b = data
    raise ValueError(f"no idea how to add {tuple(a.shape)} and {tuple(b.shape)}")
