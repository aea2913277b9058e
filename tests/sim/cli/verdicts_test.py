"""Verdict, number, table and sentence of an answer agree, for every command that the documents show.

$GRADCAST_PROGRAM is the program. With --documents the commands are those of README.md and docs/; else a few
scenarios. The checks are tried on doctored answers first: each of them must notice its break.
"""

import copy
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ["GRADCAST_PROGRAM"]
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "scripts"))
import documents  # noqa: E402
YES, NO, OPEN = "surely pays", "surely does not pay", "cannot be told"
DOCUMENTS = "--documents" in sys.argv

SCENARIOS = [
    "sweep --model resnet-50 --compressor dense,topk,gaussian,fp16 --nodes 2,8 --nic-bandwidth 1Gbps,25Gbps",
    "sweep --model resnet-50 --compressor all --cluster ib-100g --engine analytic",
    "sweep --model vgg-16 --compressor dense,dgc --against same --fitted none --engine analytic",
    "sweep --preset paper --model alexnet --compressor gaussian --fitted 10gbe-4x4-fitted --engine analytic",
    "breakeven --model resnet-50 --compressor gaussian,topk,randk --over nic-bandwidth --engine analytic",
    "breakeven --model vgg-16 --compressor dgc --over nodes --to 16 --fitted none --engine analytic",
    "breakeven --preset paper --model alexnet --compressor gaussian --over kernel-cost --engine analytic",
    "breakeven --preset paper --model resnet-50 --map --compressor topk,gaussian --nodes 1,4 --engine analytic",
    "compare --engine analytic",
    "simulate --model resnet-50 --compressor gaussian --engine analytic",
]


def shown_commands():
    """The commands of the documents that give verdicts; those on files of the reader's own are left out."""
    own = re.compile(r"\b(my|my-\S+|quick|fitted)/|my-costs|counts\.csv|sweep merge|--shard |--emit")
    return [[word for word in words if word not in ("--format", "json")] for words in documents.shown_commands()
            if words[0] in (*CHECKS, "simulate") and not own.search(" ".join(words))]


def plan():
    """The plan of the tutorial."""
    steps = documents.steps((ROOT / "docs" / "tutorial.md").read_text())
    return next(step.text for step in steps if isinstance(step, documents.File))


def by_interval(low, high, costs_known=True):
    """The rule, once more."""
    if low is None:
        return OPEN
    if high < 1:
        return NO
    return YES if low > 1 and costs_known else OPEN


def loose_words(text):
    """The word 'pays' where it is not part of a verdict."""
    return re.findall(r".{0,30}\bpays\b.{0,10}", re.sub(f"{YES}|{NO}", "", text))


def complaints_of_sweep(document, table):
    wrong = []
    rows = document["results"]
    lines = table.split("\n")[2:2 + len(rows)] if table else [None] * len(rows)
    for row, line in zip(rows, lines):
        name = f"{row['compressor']} at {row['nic_bandwidth']}"
        verdict, low, high = row["verdict"], row["speedup_low"], row["speedup_high"]
        if verdict is None:
            if row["pays"] or row["measure"]:
                wrong.append(f"{name}: no verdict, but words of one")
            continue
        if verdict != by_interval(low, high, row["fitted_costs"] != "no"):
            wrong.append(f"{name}: {verdict}, but the interval is {low} to {high}")
        over = "speedup_over_best_dense" if row["against"] == "best" else "speedup_over_dense"
        speedup = row[over]
        if low is not None and not low <= speedup <= high:
            wrong.append(f"{name}: {speedup} lies outside {low} to {high}")
        if row["pays"] != {YES: "yes", NO: "no", OPEN: None}[verdict]:
            wrong.append(f"{name}: pays is {row['pays']}, the verdict {verdict}")
        if (row["measure"] == "") != (verdict != OPEN):
            wrong.append(f"{name}: {verdict}, measure '{row['measure']}'")
        if line is not None:
            if verdict not in line or f"{speedup:.2f}" not in line:
                wrong.append(f"{name}: {verdict} at {speedup:.2f}, but the table has {line}")
    count = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in (YES, NO, OPEN)}
    summary = document["summary"]
    if (summary["pays"], summary["cannot_be_told"]) != (count[YES], count[OPEN]):
        wrong.append(f"the summary says {summary}, the rows {count}")
    if table and count[OPEN] and "Cannot be told in" not in table:
        wrong.append("nothing is said to be measured")
    return wrong


def parts_of(row):
    """The stretches of each verdict, as pairs of text."""
    columns = {YES: "surely_pays", NO: "surely_does_not_pay", OPEN: "cannot_be_told"}
    return {verdict: [tuple(part.split("..")) for part in row[column].split("; ") if part]
            for verdict, column in columns.items()}


def complaints_of_breakeven(document, table):
    wrong = []
    rows = document["results"]
    sentences = document["summary"]["sentences"]
    unfitted = {row["compressor"] for row in rows if row["costs_fitted"] == "no"}
    for row in rows:
        if row["finding"] == "no answer":
            continue
        compressor, against = row["compressor"], row["against"]
        begins = f"{compressor} against {against}, "
        first = next((said for said in sentences if said.startswith(begins)), "")
        parts = parts_of(row)
        ends = [end for stretches in parts.values() for stretch in stretches for end in stretch]
        if row["from"] not in ends or row["to"] not in ends:
            wrong.append(f"{compressor}: the verdicts leave out an end of {row['from']} to {row['to']}")
        for verdict, stretches in parts.items():
            if (verdict in first) != bool(stretches):
                wrong.append(f"{compressor}: '{verdict}' {stretches}, but: {first}")
            for begin, end in stretches if table else []:
                shown = rf"(?m)^{verdict} +{compressor} +{re.escape(against)} +{begin} +{end}$"
                if not re.search(shown, table):
                    wrong.append(f"{compressor}: the table lacks {verdict} from {begin} to {end}")
        said = first.split(": measure ")[-1].rstrip(".") if ": measure " in first else ""
        if (said == "") != (not parts[OPEN]) or row["measure"] != said:
            wrong.append(f"{compressor}: measure '{row['measure']}', but: {first}")
        margins = sentences[sentences.index(first) + 1] if first else ""
        for low, high in re.findall(r"90 %: ([\d.e+-]+) to ([\d.e+-]+)", margins):
            told = by_interval(float(low), float(high), compressor not in unfitted)
            if not parts[told] and float(low) != 1 != float(high):
                wrong.append(f"{compressor}: {told} by {low} to {high}, but: {first}")
        if all(other["estimate"] == "physics" for other in rows) and (parts[YES] or parts[NO]):
            wrong.append(f"{compressor}: a verdict by physics alone")
    cells = document.get("map") or []
    if cells:
        count = {verdict: sum(cell["verdict"] == verdict for cell in cells) for verdict in (YES, NO, OPEN)}
        said = (f"compressing {YES} in {count[YES]} of {len(cells)} cells, {NO} in {count[NO]}, "
                f"and in {count[OPEN]} it {OPEN}")
        if not any(said in sentence for sentence in sentences):
            wrong.append(f"the map's cells are {count}, but: {sentences}")
    return wrong + [f"said without a verdict: {words}" for words in loose_words("\n".join(sentences))]


def complaints_of_compare(document, table):
    wrong = []
    for row in document["results"]:
        if row["verdict"] is None:
            continue
        verdict = by_interval(row["predicted_speedup_low"], row["predicted_speedup_high"])
        if row["verdict"] != verdict or row["pays_sure"] != {YES: "yes", NO: "no", OPEN: ""}[verdict]:
            wrong.append(f"{row['compressor']}: {row['verdict']}, {row['pays_sure']}, but {verdict}")
    if table and "x dense 90 %" in table:
        for verdict in (YES, NO, OPEN):
            rows = sum(row["verdict"] == verdict for row in document["results"])
            if rows != len(re.findall(rf"(?m) {verdict}$", table)):
                wrong.append(f"the table has not {rows} times {verdict}")
    return wrong


def complaints_of_report(document, page):
    """The head of a report of a sweep: its numbers are those of the rows, and nothing large is unsure."""
    rows = [row for row in document["results"] if row["verdict"]]
    parts = re.findall(r'(?s)<header>.*?</header>|<ul class="numbers">.*?</ul>', page)
    head = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", " ".join(parts)))
    wrong = [f"said without a verdict: {words}" for words in loose_words(head)]
    if not rows:
        return wrong
    count = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in (YES, NO, OPEN)}
    for verdict, what in {YES: "points where compression surely pays", OPEN: "points where it cannot be told"}.items():
        for shown in re.findall(rf"(\d+) of \d+ {what}", head):
            if int(shown) != count[verdict]:
                wrong.append(f"{shown} {what}, but the rows have {count}")
    upgrades = document.get("summary", {}).get("upgrades", [])  # a faster network may pay where no compressor does
    if count[YES] == 0 and all(upgrade["verdict"] != YES for upgrade in upgrades) and (
            YES in re.sub(rf"0 of \d+ points where compression {YES}", "", head) or "surely more than 1x" in head):
        wrong.append("nothing surely pays, but the head says so")
    return wrong


def complaints_of_simulate(document, table):
    wrong = [f"said without a verdict: {words}" for words in loose_words(table)]
    for row in document["results"]:
        if row["verdict"] is None:
            continue
        told = by_interval(row["speedup_low"], row["speedup_high"])
        if row["verdict"] not in (told, OPEN) or row["verdict"] not in table:
            wrong.append(f"{row['verdict']}, but by the interval {told}")
        if (row["measure"] == "") != (row["verdict"] != OPEN) or row["measure"] not in table:
            wrong.append(f"{row['verdict']}, measure '{row['measure']}'")
    return wrong


CHECKS = {"sweep": complaints_of_sweep, "breakeven": complaints_of_breakeven, "compare": complaints_of_compare}


class Verdicts(unittest.TestCase):
    answers = {}  # by command: cases share them

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (cls.folder / "plan.toml").write_text(plan())
        (cls.folder / "traces").symlink_to(ROOT / "traces")
        cls.environment = {name: value for name, value in os.environ.items() if name != "GRADCAST_PRESET"}

    def answer(self, *words):
        if words not in self.answers or "-o" in words:
            self.answers[words] = self.fresh_answer(*words)
        return self.answers[words]

    def fresh_answer(self, *words):
        ran = subprocess.run([PROGRAM, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, f"{words}: {ran.stderr}")
        return ran.stdout

    def document_of(self, words):
        """The JSON of a command, which keeps its forecasts where it writes a file."""
        if "-o" in words:
            self.answer(*words)
            return json.loads((self.folder / words[words.index("-o") + 1]).read_text())
        return json.loads(self.answer(*words, "--format", "json"))

    def test_answers_agree(self):
        commands = shown_commands() if DOCUMENTS else [shlex.split(command) for command in SCENARIOS]
        self.assertGreater(len(commands), 9)
        for words in commands:
            with self.subTest(command=" ".join(words)):
                if words[0] == "simulate":
                    document = json.loads(self.answer(*words, "--format", "json"))
                    self.assertEqual(complaints_of_simulate(document, self.answer(*words, "--format", "table")), [])
                    continue
                document = self.document_of(words)
                self.assertTrue(document["results"] or document.get("map"))
                table = "" if "-o" in words else self.answer(*words, "-q")
                self.assertEqual(CHECKS[words[0]](document, table), [])
                if words[0] == "sweep":
                    (self.folder / "kept.json").write_text(json.dumps(document))
                    self.answer("report", "kept.json", "-o", "report.html", "-q")
                    page = (self.folder / "report.html").read_text()
                    self.assertEqual(complaints_of_report(document, page), [])

    def test_a_doctored_sweep_is_noticed(self):
        words = shlex.split(SCENARIOS[0])
        document = self.document_of(words)
        table = self.answer(*words, "-q")
        open_row = next(i for i, row in enumerate(document["results"]) if row["verdict"] == OPEN)

        def doctored(**values):
            broken = copy.deepcopy(document)
            broken["results"][open_row].update(values)
            return complaints_of_sweep(broken, table)

        self.assertEqual(complaints_of_sweep(document, table), [])
        self.assertTrue(doctored(verdict=YES, pays="yes", measure=""))
        self.assertTrue(doctored(pays="yes"))
        self.assertTrue(doctored(measure=""))
        self.assertTrue(doctored(speedup_low=1.5, speedup_high=1.6))
        self.assertTrue(complaints_of_sweep(document, table.replace(OPEN, YES)))
        self.assertTrue(complaints_of_sweep(document, table.replace("Cannot be told in", "")))
        page = ("<header><p>1.26x the speed of dense, surely more than 1x</p> "
                "3 of 4 points where compression surely pays</header>")
        self.assertTrue(complaints_of_report({"results": [document["results"][open_row]]}, page))

    def test_a_doctored_breakeven_is_noticed(self):
        words = shlex.split(SCENARIOS[4])
        document = self.document_of(words)
        table = self.answer(*words, "-q")
        self.assertEqual(complaints_of_breakeven(document, table), [])

        def doctored(old, new):
            broken = copy.deepcopy(document)
            sentences = broken["summary"]["sentences"]
            self.assertTrue(any(old in sentence for sentence in sentences), old)
            broken["summary"]["sentences"] = [sentence.replace(old, new) for sentence in sentences]
            return complaints_of_breakeven(broken, table)

        self.assertTrue(doctored(OPEN, YES))
        self.assertTrue(doctored(": measure ", ": buy "))
        self.assertTrue(doctored("physics alone gaussian is faster", "physics alone gaussian pays"))
        self.assertTrue(complaints_of_breakeven(document, table.replace(OPEN, YES)))
        broken = copy.deepcopy(document)
        broken["results"][0]["surely_pays"] = broken["results"][0]["cannot_be_told"]
        self.assertTrue(complaints_of_breakeven(broken, table))

    def test_a_doctored_comparison_is_noticed(self):
        words = shlex.split("compare --engine analytic --measured measured-grace-resnet50-10g --stack population-mpi")
        document = self.document_of(words)
        table = self.answer(*words, "-q")
        self.assertEqual(complaints_of_compare(document, table), [])
        self.assertTrue(complaints_of_compare(document, table.replace(OPEN, YES)))
        sure = next(row for row in document["results"] if row["verdict"] == NO)
        sure["predicted_speedup_high"] = 1.1
        self.assertTrue(complaints_of_compare(document, table))

    def test_a_doctored_forecast_is_noticed(self):
        words = shlex.split("simulate --model resnet-50 --compressor gaussian --nic-bandwidth 40Gbps --engine analytic")
        document = json.loads(self.answer(*words, "--format", "json"))
        table = self.answer(*words, "--format", "table")
        self.assertEqual(complaints_of_simulate(document, table), [])
        self.assertTrue(complaints_of_simulate(document, table.replace(OPEN, YES)))
        document["results"][0]["verdict"] = YES
        self.assertTrue(complaints_of_simulate(document, table.replace(OPEN, YES)))


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--documents"])
