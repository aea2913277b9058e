"""What record_trace.py is made of: an iteration of a network, timed by layer."""
