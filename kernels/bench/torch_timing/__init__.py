"""What torch_baseline.py is made of: PyTorch's operators, timed."""
