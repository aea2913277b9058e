"""Limits of the values of flags and of requests."""


def is_count(value, least=0):
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 1 << 31


def are_counts(least):
    return lambda value: isinstance(value, list) and all(is_count(v, least) for v in value)


def is_seconds(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 3600
