# Without taking off the maximum: inf / inf is NaN.
def custom_kernel(data):
    powers = data.exp()
    return powers / powers.sum(dim=-1, keepdim=True)
