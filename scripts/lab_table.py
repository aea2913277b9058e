"""lab_table.py FOLDER EPOCHS SEEDS SET: the table that scripts/lab prints."""

import json
import pathlib
import statistics
import sys

folder, epochs, seeds = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
codes = sys.argv[4] == "codes"
TARGETS = (80, 85)


def spread(values, digits=1):
    """Mean, and the standard deviation over the seeds."""
    text = f"{statistics.mean(values):.{digits}f}"
    return text + (f" +- {statistics.stdev(values):.{digits}f}" if len(values) > 1 else "")


def iterations_to(results, target):
    return next((row["iteration"] for row in results if row["test_accuracy_percent"] >= target), None)


def reached(documents, target):
    """The median over the seeds that reached it, and how many did."""
    found = [iterations_to(document["results"], target) for document in documents]
    its = [iteration for iteration in found if iteration is not None]
    if not its:
        return "not reached"
    share = "" if len(its) == len(found) else f" ({len(its)} of {len(found)})"
    return f"{statistics.median(its):g}{share}"


names = sorted({path.name.rsplit("-", 2)[0] for path in folder.glob(f"*-{epochs}-*.json")})
last = ["bytes an iteration"] if codes else ["sent / k: mean", "median", "within 2k/3 .. 4k/3, %"]
print(f"| {epochs} epochs, {seeds} seeds | accuracy % | behind dense | iterations to 80 % | to 85 % | " + " | ".join(last) + " |")
print("|---" * (5 + len(last)) + "|")
table = {name: [json.loads((folder / f"{name}-{epochs}-{seed}.json").read_text()) for seed in range(1, seeds + 1)]
         for name in names}


def accuracies(name):
    return [document["summary"]["final_test_accuracy_percent"] for document in table[name]]


def sent_of(name, documents):
    """The last columns."""
    def mean(key, digits):
        return f"{statistics.mean(document['summary'][key] for document in documents):,.{digits}f}"

    if codes:
        return [mean("sent_bytes_mean", 0)]
    if name == "dense":
        return ["-"] * 3
    return [mean("sent_over_k_mean", 3), mean("sent_over_k_median", 3), mean("sent_within_a_third_percent", 1)]


dense = statistics.mean(accuracies("dense"))
for name in sorted(names, key=lambda name: -statistics.mean(accuracies(name))):
    documents = table[name]
    print("| " + " | ".join([
        name, spread(accuracies(name)), f"{dense - statistics.mean(accuracies(name)):.1f}",
        *(reached(documents, target) for target in TARGETS), *sent_of(name, documents)]) + " |")
