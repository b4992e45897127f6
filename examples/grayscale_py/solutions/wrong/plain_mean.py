# All colours alike.
def custom_kernel(data):
    return data.mean(dim=-1)
