"""Every command that a document shows runs, and prints what the document shows below it.

The commands of a document run in order in one folder, as a reader would type them. $GRADCAST_PROGRAM is the program.
What is in SLOW runs with --slow only, and then with the rest of its document. Names of documents take those alone:
docs_test.py docs/guide.md --slow
"""

import difflib
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import documents
from documents import LEFT_OUT, ROOT, File

PROGRAM = os.environ["GRADCAST_PROGRAM"]
WITH_SLOW = "--slow" in sys.argv
CHOSEN = [word for word in sys.argv[1:] if word.endswith(".md")]

# Documents and commands that take seconds of a core.
SLOW = [
    "docs/guide.md",
    "gradcast sweep --model resnet-50,bert-large,gpt2-xl,llama-3-8b",
    "gradcast sweep --model all --compressor all",
    "gradcast tta --training dense.json,topk.json",
]
# Commands that begin so are not run here; their flags are looked up in the help.
NOT_RUN = {
    "scripts/test": "this test is part of it",
    "scripts/validate": "takes minutes; the test `validation` holds its tables",
    "scripts/prove": "needs PyTorch and root; tests of its own run it",
    "scripts/wheel": "builds everything anew",
    "scripts/lab": "installs the data of a package, and trains for minutes",
    "scripts/figures": "installs the data of a package, and trains for up to 20 minutes",
    "parallel": "needs GNU parallel",
    "gradcast sweep plan.toml --shard auto": "asks a scheduler; the test `slurm` runs it",
    "gradcast train --network fnn-3 --dataset fashion-mnist": "takes minutes, and the data of a package",
    "gradcast calibrate --device cpu --compressors topk,gaussian": "takes what that training recorded",
    "gradcast tta --preset paper --training fnn-3-dense-1.json": "takes the trainings of `scripts/figures 1`",
}
# Commands that end otherwise than with 0.
EXITS = {
    "gradcast calibrate --device cpu --models resnet-50": 130,  # takes minutes: interrupted after 2 seconds
    "gradcast sweep merge": 1,  # six of seven parts are missing, which it says
}


def made(folder, *words):
    subprocess.run([PROGRAM, *words, "-q"], cwd=folder, env=environment(), check=True, stdout=subprocess.DEVNULL)


def trainings(folder):
    for compressor in ("dense", "topk"):
        for seed in ("1", "2", "3"):
            made(folder, "train", "--dataset", "made", "--epochs", "1", "--compressor", compressor, "--seed", seed,
                 "-o", f"{compressor[0]}{seed}.json")
        shutil.copy(folder / f"{compressor[0]}1.json", folder / f"{compressor}.json")


def counts(folder):
    made(folder, "train", "--dataset", "made", "--epochs", "1", "--compressor", "gaussian", "--counts", "counts.csv")


def profile(folder):
    shutil.copy(ROOT / "tests/sim/import/traces/resnet50-ddp-a100x2.json.gz", folder / "trace.json.gz")


def vector(folder):
    values = [((7919 * i) % 10007 / 10007 - 0.5) ** 3 for i in range(10000)]
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)},), }}".ljust(117) + "\n"
    (folder / "my-u.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() +
                                      struct.pack(f"<{len(values)}f", *values))


def runs(folder):
    """Three runs of the example's, on its cluster under the name `mine`."""
    examples = ROOT / "traces" / "examples"
    for path in examples.glob("my-transformer-*.csv"):
        shutil.copy(path, folder)
    shutil.copy(examples / "my-cluster.csv", folder / "mine.csv")
    lines = [line for line in (examples / "measured.csv").read_text().split("\n") if line and line[0] != "#"]
    text = "\n".join(lines[:4]) + "\n"
    (folder / "my-runs.csv").write_text(text.replace("my-cluster.csv", "mine.csv"))


def costs(folder):
    shutil.copy(ROOT / "traces" / "cost-v100-pytorch-1.1.csv", folder / "my-costs.csv")


def checkpoint(folder):
    """The header of Llama-3 8B's weights, and no weights: a file with a hole."""
    header, end = {}, 0
    for line in (ROOT / "models" / "llama-3-8b.csv").read_text().split("\n"):
        if line.startswith(("model.", "lm_head")):
            words = line.split(",")
            header[words[1]] = {"dtype": "BF16", "shape": [int(size) for size in words[6].split("x")],
                                "data_offsets": [end, end + 2 * int(words[2])]}
            end += 2 * int(words[2])
    text = json.dumps(header).encode()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


# Files of the reader's own: made where a command first names one.
READERS_OWN = {
    "dense.json": trainings, "d1.json": trainings, "--counts counts.csv": counts, "import trace.json.gz": profile,
    "my-u.npy": vector, "my-runs.csv": runs, "--costs my-costs.csv": costs, "model.safetensors": checkpoint,
}


def environment():
    usual = {name: value for name, value in os.environ.items() if name != "GRADCAST_PRESET"}
    return {**usual, "GRADCAST_CONFIG": "none", "NO_COLOR": "1"}


def plain(line):
    """A line whose columns may be as wide as they like."""
    return re.sub(r"-{3,}", "---", " ".join(line.split()))


def prints(shown, printed):
    """Is this line shown? A word like ~0.25 is any number."""
    return re.fullmatch(r"[\d.,]+".join(re.escape(part) for part in re.split(r"~[\d.,]+", shown)), printed)


def differences(shown, printed):
    """Complaints of what a document shows (pairs of line number and text), held against the printed text."""
    lines = [plain(line) for line in printed.split("\n") if line.strip()]
    at, free = 0, False  # free: lines may be left out here
    for number, line in shown:
        if line.strip() == LEFT_OUT:
            free = True
            continue
        wanted = plain(line)
        found = next((i for i in range(at, len(lines)) if prints(wanted, lines[i])), None)
        if found is None:
            near = difflib.get_close_matches(wanted, lines[at:], 1, 0.5)
            near = near[0] if near else lines[at] if at < len(lines) else "(the end)"
            return [f"line {number}: not printed: {line.strip()}\n    but: {near}"]
        if found > at and not free:
            return [f"line {number}: '{LEFT_OUT}' is missing before it, for this is left out: {lines[at]}"]
        at, free = found + 1, False
    if at < len(lines) and not free:
        return [f"line {shown[-1][0]}: '{LEFT_OUT}' is missing below it, for this is left out: {lines[at]}"]
    return []


def first_of(begins, text):
    return next((begin for begin in begins if text.startswith(begin)), None)


class Reader:
    """Does what a document shows, in a folder of its own."""

    def __init__(self, folder, slow=True):
        self.folder = folder
        self.slow = slow
        self.made = set()
        self.missing = set()  # files of commands that were left for --slow
        self.help = {}
        (folder / "tests").symlink_to(ROOT / "tests")
        for name in ("models", "platforms", "traces"):  # links to files: what a command writes there stays here
            shutil.copytree(ROOT / name, folder / name, copy_function=os.symlink)

    def complaints(self, text):
        wrong = []
        for step in documents.steps(text):
            if isinstance(step, File):
                (self.folder / step.name).write_text(step.text)
            else:
                wrong += self.complaints_of(step)
        return wrong

    def complaints_of(self, example):
        wrong, printed, all_ran = [], "", True
        for command in example.commands:
            text = command.text.replace("scripts/run ", "gradcast ")
            if first_of(NOT_RUN, text) or self.is_left(command, text):
                wrong += self.unknown_flags(command)
                all_ran = False
                continue
            wanted = EXITS.get(first_of(EXITS, text), 0)
            code, out, err = self.run(command, interrupted=wanted == 130)
            printed += out
            if code != wanted:
                wrong.append(f"line {command.line}: {command.text}\n    exits {code}: {err.strip()}")
        if example.output and all_ran and not wrong:
            wrong += differences(example.output, printed)
        return wrong

    def is_left(self, command, text):
        """Is the command slow, or does it read what a slow one would have written?"""
        if self.slow or not first_of(SLOW, text) and not self.missing.intersection(command.arguments or []):
            return False
        if "-o" in command.arguments:
            self.missing.add(command.arguments[command.arguments.index("-o") + 1])
        return True

    def run(self, command, interrupted=False):
        for name, make in READERS_OWN.items():
            if name in command.text and make not in self.made:
                self.made.add(make)
                make(self.folder)
        words = [PROGRAM, *command.arguments] if command.arguments else command.text.split()
        ran = subprocess.Popen(words, cwd=self.folder, env=environment(), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = ran.communicate(timeout=2 if interrupted else None)
        except subprocess.TimeoutExpired:
            ran.send_signal(signal.SIGINT)
            out, err = ran.communicate()
        return ran.returncode, out, err

    def unknown_flags(self, command):
        """The flags of a command that is not run stand in its help, at least."""
        if not command.arguments:
            return []
        name = command.arguments[0]
        if name not in self.help:
            asked = subprocess.run([PROGRAM, "help", name], env=environment(), capture_output=True, text=True)
            self.help[name] = asked.stdout
        return [f"line {command.line}: {word} is no flag of {name}" for word in command.arguments
                if word.startswith("-") and not re.search(rf"{word}\b", self.help[name])]


def complaints_of_text(text, slow=True):
    with tempfile.TemporaryDirectory() as folder:
        return Reader(pathlib.Path(folder), slow).complaints(text)


class Documents(unittest.TestCase):
    def test_documents(self):
        for path in documents.DOCUMENTS:
            name, text = str(path.relative_to(ROOT)), path.read_text()
            all_slow = name in SLOW
            some_slow = any(begin in text.replace("scripts/run ", "gradcast ") for begin in SLOW)
            if name in CHOSEN if CHOSEN else all_slow or some_slow if WITH_SLOW else not all_slow:
                with self.subTest(document=name):
                    wrong = complaints_of_text(text, WITH_SLOW)
                    self.assertEqual(wrong, [], f"{name}:\n" + "\n".join(wrong))


    def test_tables_have_only_what_documents_show(self):
        steps = [step for path in documents.DOCUMENTS for step in documents.steps(path.read_text())]
        shown = [command.text.replace("scripts/run ", "gradcast ")
                 for step in steps if not isinstance(step, File) for command in step.commands]
        for begin in [*SLOW, *NOT_RUN, *EXITS]:
            self.assertTrue((ROOT / begin).is_file() and begin.endswith(".md") or
                            any(text.startswith(begin) for text in shown), f"no document shows '{begin}'")

    def test_commands_in_sentences_have_known_flags(self):
        with tempfile.TemporaryDirectory() as folder:
            reader = Reader(pathlib.Path(folder))
            for path in documents.DOCUMENTS:
                with self.subTest(document=path.name):
                    wrong = [complaint for command in documents.inline_commands(path.read_text())
                             for complaint in reader.unknown_flags(command)]
                    self.assertEqual(wrong, [])


class Doctored(unittest.TestCase):
    """A document that is right, and breaks of it: each must be noticed."""

    COMMAND = "gradcast theory --distribution normal --density 0.001"

    @classmethod
    def setUpClass(cls):
        words = [PROGRAM, *cls.COMMAND.split()[1:]]
        ran = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
        cls.lines = [line for line in ran.stdout.split("\n") if line.strip()]

    def document(self, lines, command=COMMAND):
        return "\n".join(["A document:", "", "    " + command, "", *("    " + line for line in lines), "", "Its end."])

    def noticed(self, words, lines, command=COMMAND):
        wrong = complaints_of_text(self.document(lines, command))
        self.assertEqual(len(wrong), 1)
        self.assertIn(words, wrong[0])

    def test_what_is_right_passes(self):
        figure = next(line for line in self.lines if re.search(r"\d\.\d", line))
        for lines in (self.lines, [], ["...", *self.lines[2:4], "..."], [" ".join(line.split()) for line in self.lines],
                      [re.sub(r"(?<=\s)(?=\d+\.\d)", "~", line) if line == figure else line for line in self.lines]):
            self.assertEqual(complaints_of_text(self.document(lines)), [])

    def test_breaks_are_noticed(self):
        last = max(i for i, line in enumerate(self.lines) if re.search(r"\d\.\d", line))
        changed = [re.sub(r"\d(?=\D*$)", lambda digit: str(9 - int(digit.group())), line) if i == last else line
                   for i, line in enumerate(self.lines)]
        self.noticed("not printed", changed)
        self.noticed("is left out", self.lines[:2] + self.lines[3:])
        self.noticed("is left out", self.lines[:-1])
        self.noticed("not printed", [*self.lines, "one line more"])
        self.noticed("line 5", [self.lines[1], self.lines[0], *self.lines[2:]])
        self.noticed("exits 2", [], self.COMMAND + " --no-such-flag 3")
        self.noticed("exits 3", [], "gradcast simulate --model no-such-model.csv")
        self.noticed("is no flag of train", [], "gradcast train --network fnn-3 --dataset fashion-mnist --no-such-flag 3")


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--slow" and word not in CHOSEN])
