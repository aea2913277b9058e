"""Every JSON document that the program writes fits its schema, and a renamed key does not.

Needs python3-jsonschema; without it the test is skipped (77). $GRADCAST_PROGRAM is the program, $GRADCAST_SCHEMAS
the folder of schemas.
"""

import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema", file=sys.stderr)
    sys.exit(77)

try:
    import referencing  # since jsonschema 4.18
except ImportError:
    referencing = None

PROGRAM = os.environ["GRADCAST_PROGRAM"]
FOLDER = pathlib.Path(os.environ["GRADCAST_SCHEMAS"])
SCHEMAS = {path.name: json.loads(path.read_text()) for path in FOLDER.glob("*.schema.json")}
COMMANDS = subprocess.run([PROGRAM, "completion", "--names", "commands"], capture_output=True, text=True,
                          check=True).stdout.split()

CORPUS = pathlib.Path(__file__).parents[2] / "fuzz" / "corpus"
IMPORTED = pathlib.Path(__file__).parents[1] / "import" / "traces"
LOGS = IMPORTED.parent / "logs"
TRAININGS = pathlib.Path(__file__).parents[1] / "tta" / "trainings"
TRAINED = ["--model", "fnn-3", "--training", ",".join(map(str, sorted(TRAININGS.glob("*.json"))))]
ANALYTIC = ["--engine", "analytic"]
CPU = ["--device", "cpu", "--compressors", "topk", "--seconds", "0.001"]
RUNS = {
    "simulate": [
        ["--model", "resnet-50", *ANALYTIC],
        ["--model", "alexnet", "--compressor", "gaussian", "--fusion", "omgs", "--overlap", "yes", *ANALYTIC],
        ["--model", "alexnet", "--compressor", "topk", "--cluster", "10gbe-4x4-fitted", "--scale-costs-to", "p100",
         *ANALYTIC],
        ["--model", "alexnet", "--compute-jitter", "5%", "--replicas", "5", *ANALYTIC],
        ["--payload", "1MiB", *ANALYTIC],
        ["--model", "alexnet", "--compressor", "gaussian", "--counts",
         str(CORPUS / "sent_counts" / "two-workers"), *ANALYTIC],
        ["--model", "alexnet"],
    ],
    "decide": [
        ["--model", "resnet-50", "--cluster", "25gbe", "--samples", "1e6", "--price-per-gpu-hour", "2"],
        ["--model", "llama-3-8b", "--cluster", "dgx-h100", "--sharding", "fsdp", "--preset", "today"],
    ],
    "collectives": [
        ["--cluster", "dgx-h100", "--nodes", "1..4", "--sizes", "1KiB,25MiB", "--verbose"],
        ["--cluster", "dgx-a100", "--kind", "all-gather", "--sizes", "1MiB", "--engine", "flow-exact"],
        ["--cluster", "dgx-h100", "--kind", "send-receive", "--sizes", "1KiB,1MiB", "--verbose"],
        ["--cluster", "dgx-h100", "--nodes", "2", "--kind", "broadcast", "--sizes", "1KiB,64MiB"],
    ],
    "compare": [
        ANALYTIC,
        ["--explain", *ANALYTIC],
        ["--costs", "cost-v100-floor", *ANALYTIC],
        ["--measured", "measured-osu-allreduce-10gbe", *ANALYTIC],
    ],
    "learn": [
        ["measured-lambda-resnet50"],
        ["measured-lambda-resnet50", "--stack", "horovod-nccl", "-o", "my"],
    ],
    "fit": [
        ["--claimed-only", "--starts", "0", *ANALYTIC],
        ["--claimed-only", "--starts", "0", "--leave-one-out", "model", *ANALYTIC],
        ["--stacks"],
    ],
    "calibrate": [
        ["--models", "lenet-5", "--workers", "1", "-o", "costs.csv", *CPU],
        ["--distributions", "u.npy,normal", "--workers", "1", "-o", "recorded.csv", *CPU],
        ["--models", "lenet-5", "--roofline", *CPU],
        ["--per-layer", "lenet-5", "--trace", "lenet.csv", *CPU],
    ],
    "import": [
        [str(IMPORTED / "resnet50-ddp-a100x2.json.gz"), "-o", "my"],
        [str(IMPORTED / "resnet50-v100-shapes.json.gz"), "-o", "my"],
        [str(CORPUS / "safetensors" / "tied"), "-o", "my", "--device", "t4", "--tokens", "100"],
        [str(CORPUS / "onnx" / "language"), "-o", "my"],
        [str(CORPUS / "chakra" / "two-layers"), "-o", "my"],
        [str(CORPUS / "pytorch_et" / "one-layer"), "-o", "my"],
        [str(CORPUS / "astra_sim" / "two-layers"), "-o", "my", "--tick", "1us"],
        [str(CORPUS / "pipedream" / "four-nodes"), "-o", "my"],
        [str(LOGS / "titan-colours.log"), "-o", "my", "--model", "llama-3-8b", "--cluster", "dgx-h100",
         "--compute-seconds", "1.1s"],
    ],
    "list": [[]],
    "selftest": [[]],
    "sweep": [  # half of its first points have no answer
        ["--model", "alexnet,resnet-50", "--compressor", "all", "--nodes", "2,100000", "--fitted", "none", *ANALYTIC],
        ["--payload", "1MiB", *ANALYTIC],
    ],
    "theory": [
        ["--distribution", "normal:8,1,signs", "--density", "0.001,0.1", "--elements", "1000"],
        ["--distribution", "u.npy"],
        ["--counter-examples", "--elements", "1000"],
        ["--curve", "--elements", "1000"],
        ["--curve", "--distribution", "u.npy"],
    ],
    "breakeven": [
        ["--model", "alexnet", "--compressor", "topk", "--over", "nic-bandwidth", *ANALYTIC],
        ["--model", "alexnet", "--map", "--nodes", "1..4", "--nic-bandwidth", "1Gbps..10Gbps", *ANALYTIC],
    ],
    "train": [
        ["--dataset", "made", "--workers", "2", "--batch", "500", "--epochs", "1"],
        ["--dataset", "made", "--workers", "2", "--batch", "500", "--epochs", "1", "--compressor", "gaussian",
         "--check-bound", "yes", "--observe", "1,3"],
    ],
    "tta": [
        [*TRAINED, "--target", "85,87", *ANALYTIC],
        [*TRAINED, "--curve", "--over", "nic-bandwidth", *ANALYTIC],
        [*TRAINED[:3], str(TRAININGS / "gaussian-1.json"), "--fitted", "none", *ANALYTIC],
    ],
    "config": [["simulate"]],
    "version": [[]],
}
TRACE_OF_LENET = """# device: X
# batch: 1
tensor,forward_seconds,backward_seconds
"""


@functools.cache
def validator(command):
    """References begin at the folder of schemas; nothing is fetched from anywhere."""
    schema = SCHEMAS[command + ".schema.json"]
    if referencing:
        resources = [(name, referencing.Resource.from_contents(other)) for name, other in SCHEMAS.items()]
        return jsonschema.Draft202012Validator(schema, registry=referencing.Registry().with_resources(resources))
    store = {"file:///" + name: other for name, other in SCHEMAS.items()}
    resolver = jsonschema.RefResolver("file:///" + command + ".schema.json", schema, store=store)
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


def fits(command, document):
    return validator(command).is_valid(document)


def complaints(command, document):
    return ["/".join(map(str, error.absolute_path)) + ": " + error.message[:300]
            for error in validator(command).iter_errors(document)]


def documents(command):
    with tempfile.TemporaryDirectory() as folder:
        model = subprocess.run([PROGRAM, "version", "--format", "json"], capture_output=True, text=True, check=True)
        lenet = pathlib.Path(json.loads(model.stdout)["results"][0]["data"]) / "models" / "lenet-5.csv"
        tensors = [line.split(",")[1] for line in lenet.read_text().splitlines() if not line.startswith("#")][1:]
        (pathlib.Path(folder) / "lenet.csv").write_text(
            TRACE_OF_LENET + "".join(tensor + ",1,1\n" for tensor in tensors))
        (pathlib.Path(folder) / "u.npy").write_bytes((CORPUS / "npy" / "float32").read_bytes())
        for arguments in RUNS[command]:
            ran = subprocess.run([PROGRAM, command, "--format", "json", "-q", *arguments], cwd=folder,
                                 capture_output=True, text=True)
            if ran.returncode != 0:
                raise AssertionError(f"{command} {arguments}: {ran.stderr}")
            yield arguments, json.loads(ran.stdout)


def with_key_renamed(holder, key):
    """The document's every key keeps its place but this one, which is called otherwise."""
    return {("new_" + name if name == key else name): value for name, value in holder.items()}


class Schemas(unittest.TestCase):
    def test_schemas_are_schemas(self):
        self.assertGreater(len(SCHEMAS), 8)
        for name, schema in SCHEMAS.items():
            with self.subTest(name):
                jsonschema.Draft202012Validator.check_schema(schema)

    def test_every_document_fits_and_no_key_can_be_renamed(self):
        for command in [name for name in RUNS if name in COMMANDS]:
            for arguments, document in documents(command):
                schema = document["schema"]["name"].removeprefix("gradcast/")  # a command may have several
                with self.subTest(f"{command} {arguments}"):
                    self.assertEqual(complaints(schema, document), [])
                    # With one row, so that this stays quick.
                    short = dict(document)
                    lists = [rows for rows in ("results", "map", "break_evens", "curves", "learned", "measure_next") if short.get(rows)]
                    for rows in lists:
                        short[rows] = short[rows][:1]
                    self.assertEqual(complaints(schema, short), [])
                    for key in short:
                        self.assertFalse(fits(schema, with_key_renamed(short, key)), key)
                    for rows in lists:
                        for key in short[rows][0]:
                            renamed = {**short, rows: [with_key_renamed(short[rows][0], key)]}
                            self.assertFalse(fits(schema, renamed), key)
                    for key in document.get("summary", {}):
                        renamed = {**short, "summary": with_key_renamed(short["summary"], key)}
                        self.assertFalse(fits(schema, renamed), key)

    def test_every_command_that_answers_in_json_has_a_schema(self):
        for command in COMMANDS:
            said = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True, check=True).stdout
            if "--format" in said and command + ".schema.json" not in SCHEMAS:
                self.fail(command + " has no schema")

    def test_exit_codes_are_those_of_the_program(self):
        said = subprocess.run([PROGRAM, "help", "exit-codes"], capture_output=True, text=True, check=True).stdout
        codes = [int(line.split()[0]) for line in said.splitlines() if line.startswith("  ")]
        self.assertEqual(codes, SCHEMAS["common.schema.json"]["$defs"]["exit_code"]["enum"])


if __name__ == "__main__":
    unittest.main()
