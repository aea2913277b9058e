"""The sources of a file's figures: comment lines as `gradcast import` writes them, in its order.

First the keys that the simulator reads; then the source and what lies below it; then what was used,
left out, inferred. What only a recording knows stands last."""
import datetime


def provenance(keys, source, network, notes, more):
    """`keys`, `notes` and `more`: (key, text), in order."""
    return (pairs(keys) +
            [f"Recorded by traces/record_trace.py as {source} from:", f"  {network}"] +
            pairs(notes) + pairs(more) +
            [f"date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d}"])


def pairs(lines):
    return [f"{key}: {text}" for key, text in lines]


def comments(lines):
    """One line each, whatever is in it."""
    return "".join("# " + "".join(letter if letter.isprintable() else " " for letter in line) + "\n"
                   for line in lines)
