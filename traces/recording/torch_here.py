"""torch; or None, and why there is none. Who only asks for --help needs none."""
why_no_torch = ""
try:
    import torch
except Exception as failure:  # a torch that cannot be loaded fails in many ways
    torch = None
    why_no_torch = " ".join(str(failure).split()) or type(failure).__name__
