"""The parts of record_trace.py: an iteration of a network, timed by layer."""
