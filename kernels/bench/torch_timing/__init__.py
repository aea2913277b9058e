"""The modules of torch_baseline.py, which times PyTorch's operators."""
