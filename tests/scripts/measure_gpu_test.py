#!/usr/bin/env python3
"""scripts/measure-gpu on a machine that has no GPU: nvidia-smi, nvcc, cmake and what they build are
stand-ins on PATH, which note how they were called. It shows the steps, not the measurements.

usage: measure_gpu_test.py [unittest's arguments]
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Nothing else is there: no nvcc of this machine, no cmake.
TOOLS = ("awk basename bash cat cp cut date df diff dirname env git grep gzip head mkdir mktemp mv paste "
         "rm sed sh sleep sort tail tar tee timeout touch tr").split()

SMI = 'echo "${GPU-NVIDIA H100 PCIe, 560.35.03, 9.0}"'
NVCC = """case $1 in
  --version) echo "Cuda compilation tools, release ${CUDA-13.0}, V13.0.88" ;;
  --list-gpu-code) printf 'sm_%s\\n' ${CODES-75 80 90 100} ;;
  *) echo "nvcc $*" >>"$CALLS" ;;
esac"""
# `cmake --build FOLDER` makes the two programs.
CMAKE = """case $1 in
  --version) echo "cmake version ${CMAKE-3.25.1}" ;;
  --build)
    echo "build" >>"$CALLS"
    [ -z "${NO_BUILD:-}" ] || { echo "error: no"; exit 1; }
    cp "$BIN/stand-in-program" "$2/gradcast"
    cp "$BIN/stand-in-tests" "$2/tests_gpu" ;;
  *) echo "configure $*" >>"$CALLS" ;;
esac"""
TESTS = """case $1 in
  --list-test-names-only) printf 'the first, as it is\\nthe second [odd]\\n'; exit 2 ;;
esac
echo "test $*" >>"$CALLS"
case "$*" in *second*) [ -z "${SECOND_FAILS:-}" ] || exit 1 ;; esac"""
# The cost table grows until its time is up, as calibrate's does; a view is whole or not.
PROGRAM = """echo "calibrate $*" >>"$CALLS"
case "$*" in
  *--roofline* | *--per-layer*) echo "compressor,encode_seconds"
    [ "${SLOW:-}" != roofline ] || { trap 'exit 130' INT; sleep 30 & wait; }
    echo "topk,0.1" ;;
  *) echo "a row" >>cost-h100-pcie.csv
    [ "${SLOW:-}" != costs ] || { trap 'exit 130' INT; sleep 30 & wait; } ;;
esac"""


class MeasureGpu(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        for name, script in (("nvidia-smi", SMI), ("nvcc", NVCC), ("cmake", CMAKE), ("c++", "true"),
                             ("compute-sanitizer", 'echo "sanitizer $*" >>"$CALLS"'),
                             ("python3", "exit 1"), ("stand-in-program", PROGRAM),
                             ("stand-in-tests", TESTS)):
            self.stand_in(name, script)
        self.headers = self.folder / "headers"
        for name in ("cxxopts.hpp", "nlohmann/json.hpp", "toml++/toml.h", "catch2/catch.hpp",
                     "eigen3/unsupported/Eigen/SpecialFunctions",
                     "boost/math/distributions/chi_squared.hpp",
                     "boost/math/distributions/students_t.hpp"):
            (self.headers / name).parent.mkdir(parents=True, exist_ok=True)
            (self.headers / name).touch()
        # The archive lies beside the scripts: a copy of them, not the source tree.
        self.tree = self.folder / "tree"
        (self.tree / "scripts").mkdir(parents=True)
        for name in ("measure-gpu", "gpu_checks.sh"):
            shutil.copy(ROOT / "scripts" / name, self.tree / "scripts")
        (self.tree / "kernels").mkdir()
        shutil.copy(ROOT / "kernels" / "compressors.def", self.tree / "kernels")
        self.calls_file = self.folder / "calls"
        self.environment = {"PATH": str(self.bin), "BIN": str(self.bin), "CUDA_HOME": "/none",
                            "SYSTEM_HEADERS": "/none", "CALLS": str(self.calls_file),
                            "HOME": str(self.folder)}

    def stand_in(self, name, script):
        path = self.bin / name
        path.unlink(missing_ok=True)
        # "x" makes a new file or fails: never through a link, whose end is the machine's own tool.
        with open(path, "x", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def command(self, arguments):
        return [str(self.tree / "scripts" / "measure-gpu"), "--headers", str(self.headers), *arguments]

    def measure(self, *arguments, **environment):
        """The exit code, and what was said."""
        ran = subprocess.run(self.command(arguments), env={**self.environment, **environment},
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=60)
        return ran.returncode, ran.stdout

    def calls(self):
        lines = self.calls_file.read_text().splitlines() if self.calls_file.exists() else []
        self.calls_file.write_text("")
        return lines

    def refuses(self, says, **environment):
        code, said = self.measure(**environment)
        self.assertEqual(code, 5, said)
        self.assertIn(says, said)
        self.assertEqual(len(said.splitlines()), 1, said)  # one line for what is missing
        self.assertFalse((self.tree / "measured").exists())

    def test_one_command_leaves_the_tables_and_one_file_to_send(self):
        code, said = self.measure()
        self.assertEqual(code, 0, said)
        archive = self.tree / "gradcast-measured-h100-pcie.tar.gz"
        self.assertIn("please send back this one file", said.splitlines()[-1])
        self.assertTrue(said.endswith(f": {archive}\n"), said)
        with tarfile.open(archive) as packed:
            names = packed.getnames()
        for name in ("cost-h100-pcie.csv", "roofline-topk.csv", "layers-vgg-16.csv", "machine.txt",
                     "logs/test.1.log", "logs/sanitize.racecheck.log"):
            self.assertIn(f"measured/{name}", names)
        self.assertIn("traces: left out, python3 has no PyTorch that sees the GPU", said)
        calls = self.calls()
        self.assertTrue(any("-DCMAKE_CUDA_ARCHITECTURES=90 " in call for call in calls), calls)
        # The kernels are known to be right before they are timed, and the costs come first.
        kinds = [call.split()[0] for call in calls if not call.startswith("nvcc")]
        self.assertEqual(kinds[:4], ["configure", "build", "test", "test"])
        self.assertIn("--models none --sweep --compressors topk,", [c for c in calls if "calibrate" in c][0])

    def test_every_compressor_is_measured(self):
        self.assertEqual(self.measure("build", "costs", "roofline", "layers")[0], 0)
        named = re.findall(r"^COMPRESSOR\((.*)\)$", (ROOT / "kernels/compressors.def").read_text(), re.M)
        self.assertIn("qsgd", named)
        timed = [name for name in named if name != "dense"]
        calls = [call for call in self.calls() if call.startswith("calibrate")]
        self.assertIn("--compressors " + ",".join(timed) + " ", calls[0])
        self.assertIn("--compressors " + ",".join(timed) + " ", calls[-1])  # of layers
        self.assertEqual(self.measure("bf16")[0], 0)
        self.assertIn("--compressors " + ",".join(timed) + " --baselines none --input-types bf16", self.calls()[-1])
        for name in timed:
            self.assertTrue((self.tree / "measured" / f"roofline-{name}.csv").exists(), name)
            self.assertTrue(any("--roofline --sweep" in call and f"--compressors {name} " in call
                                for call in calls), name)

    def test_what_is_done_is_not_repeated(self):
        self.assertEqual(self.measure()[0], 0)
        self.calls()
        code, said = self.measure()
        self.assertEqual(code, 0, said)
        self.assertEqual([call for call in self.calls() if not call.startswith("nvcc")], [])

    def test_a_step_that_is_cut_off_keeps_its_results_and_goes_on(self):
        code, said = self.measure("--minutes", "0.05", "build", "costs", SLOW="costs")
        self.assertEqual(code, 75, said)
        self.assertIn("not finished: costs.sweep", said)
        self.calls()
        self.assertTrue((self.tree / "measured" / "cost-h100-pcie.csv").exists())
        code, said = self.measure("build", "costs")
        self.assertEqual(code, 0, said)
        table = self.tree / "measured" / "cost-h100-pcie.csv"
        self.assertEqual(table.read_text().count("a row"), 4)  # one, and the three parts
        self.assertFalse(any(call.startswith(("build", "configure")) for call in self.calls()))

    def test_a_view_is_whole_under_its_name(self):
        code, said = self.measure("--minutes", "0.1", "build", "roofline", SLOW="roofline")
        self.assertEqual(code, 75, said)
        out = self.tree / "measured"
        self.assertEqual((out / "roofline-topk.csv.partial").read_text(), "compressor,encode_seconds\n")
        self.assertFalse((out / "roofline-topk.csv").exists())
        self.assertEqual(self.measure("build", "roofline")[0], 0)
        self.assertTrue((out / "roofline-topk.csv").read_text().endswith("topk,0.1\n"))
        self.assertEqual(list(out.glob("*.partial")), [])

    def test_ctrl_c_ends_it_with_what_there_is(self):
        running = subprocess.Popen(self.command(["build", "costs"]), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env={**self.environment, "SLOW": "costs"}, start_new_session=True)
        table = self.tree / "measured" / "cost-h100-pcie.csv"
        for _ in range(600):
            if table.exists():
                break
            time.sleep(0.05)
        time.sleep(0.3)
        os.killpg(running.pid, signal.SIGINT)
        said = running.communicate(timeout=30)[0]
        self.assertEqual(running.returncode, 130, said)
        self.assertIn("not finished: costs.sweep", said)
        self.assertTrue((self.tree / "gradcast-measured-h100-pcie.tar.gz").exists())

    def test_a_failure_is_told_and_does_not_keep_the_others_from_running(self):
        code, said = self.measure("build", "test", "costs", SECOND_FAILS="1")
        self.assertEqual(code, 1, said)
        self.assertIn("failed: test.2", said)
        calls = self.calls()
        self.assertTrue(any(call.startswith("calibrate") for call in calls))
        self.assertIn("test -d yes the first\\, as it is", calls)
        self.assertIn("test -d yes the second \\[odd]", calls)
        self.assertEqual(self.measure("build", "test", "costs")[0], 0)
        self.assertEqual([call for call in self.calls() if not call.startswith("nvcc")],
                         ["test -d yes the second \\[odd]"])

    def test_without_a_build_nothing_else_runs(self):
        code, said = self.measure(NO_BUILD="1")
        self.assertEqual(code, 1, said)
        self.assertIn("failed: build.compile", said)
        self.assertFalse(any("calibrate" in call for call in self.calls()))

    def test_each_thing_that_is_missing_has_one_line(self):
        self.refuses("nvcc is of CUDA 11.8, which is too old; 12.0 or newer is needed", CUDA="11.8")
        self.refuses("sm_70, which CUDA 13.0 no longer compiles for; CUDA 12 does",
                     GPU="Tesla V100-SXM2-16GB, 535.1, 7.0")
        self.refuses("is sm_61; the kernels need sm_70 (V100) or newer",
                     GPU="NVIDIA TITAN Xp, 535.1, 6.1")
        self.refuses("sm_103, which CUDA 13.0 does not know yet; a newer CUDA does",
                     GPU="NVIDIA B300, 580.1, 10.3")
        self.refuses("cmake 3.18.4 is too old; 3.22 or newer is needed", CMAKE="3.18.4")
        self.refuses("no nvcc (/opt/none/nvcc) on PATH", CUDACXX="/opt/none/nvcc")
        (self.headers / "cxxopts.hpp").unlink()
        self.refuses("no headers: cxxopts.hpp, neither in ")
        (self.headers / "cxxopts.hpp").touch()
        self.stand_in("df", 'echo Filesystem; echo "disk 9 9 1048576 1% /"')
        self.refuses("1024 MB free; 2048 MB are needed")
        self.stand_in("df", 'echo Filesystem; echo "disk 9 9 9048576 1% /"')
        self.stand_in("c++", "exit 1")
        self.refuses("'c++' does not know C++20; g++ 11 or newer is needed")
        self.stand_in("c++", "true")
        self.stand_in("nvidia-smi", 'echo "No devices were found"; exit 6')
        self.refuses("no GPU: nvidia-smi says 'No devices were found'")
        (self.bin / "nvidia-smi").unlink()
        self.refuses("no GPU: there is no nvidia-smi")
        (self.bin / "nvcc").unlink()
        (self.bin / "cmake").unlink()
        code, said = self.measure()
        self.assertEqual(code, 5)
        self.assertEqual(len(said.splitlines()), 3, said)  # all at once
        self.assertIn("no nvcc on PATH or in /none/bin", said)
        self.assertIn("no cmake; 3.22 or newer is needed", said)

    def test_a_v100_is_built_by_cuda_12_and_two_kinds_of_gpus_for_both(self):
        code, said = self.measure("build", GPU="Tesla V100-SXM2-16GB, 535.1, 7.0\nX, 535.1, 8.0",
                                  CUDA="12.9", CODES="70 75 80 90")
        self.assertEqual(code, 0, said)
        self.assertTrue(any("-DCMAKE_CUDA_ARCHITECTURES=70;80 " in call for call in self.calls()))

    def test_results_of_another_machine_are_not_mixed_in(self):
        self.assertEqual(self.measure("build")[0], 0)
        code, said = self.measure("build", GPU="NVIDIA A100, 560.35.03, 8.0")
        self.assertEqual(code, 2, said)
        self.assertIn("there: gpu: NVIDIA H100 PCIe", said)
        self.assertIn("here:  gpu: NVIDIA A100", said)
        self.assertEqual(self.measure("--out", str(self.folder / "other"), "build",
                                      GPU="NVIDIA A100, 560.35.03, 8.0")[0], 0)

    def test_a_wrong_call_is_answered_with_2(self):
        for arguments, says in ((["--minute", "3"], "unknown flag '--minute'"),
                                (["--minutes", "soon"], "'soon' is not a number of minutes"),
                                (["--minutes"], "--minutes lacks its value"),
                                (["costa"], "unknown step 'costa' (known: build test costs ")):
            code, said = self.measure(*arguments)
            self.assertEqual(code, 2, said)
            self.assertIn(says, said)


if __name__ == "__main__":
    unittest.main()
