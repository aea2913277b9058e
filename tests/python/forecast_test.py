#!/usr/bin/env python3
"""The Python package: answers equal to the program's, one line for what is wrong, ctrl-C, threads.
Needs Python alone. Without --all a few questions are drawn, with it as many as the names say.

usage: forecast_test.py PROGRAM [--all]
"""
import concurrent.futures
import copy
import json
import math
import multiprocessing
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True
import gradcast as gc  # noqa: E402
import gradcast.probe  # noqa: E402

ALL = "--all" in sys.argv
PROGRAM = next((word for word in sys.argv[1:] if not word.startswith("-")), str(ROOT / "build/gradcast"))
PLAIN = {**{k: v for k, v in os.environ.items() if not k.startswith("GRADCAST")}, "GRADCAST_CONFIG": "none"}


def by_program(command, **settings):
    words = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    done = subprocess.run([PROGRAM, command, *words, "--format=json"], capture_output=True, text=True,
                          env=PLAIN, timeout=120)
    return done.returncode, json.loads(done.stdout)["results"] if done.returncode == 0 else done.stderr


def drawn_question(draw):
    question = {
        "model": draw.choice(["alexnet", "vgg-16", "resnet-50", "bert-base", "gpt2-small", "lstm-ptb"]),
        "cluster": draw.choice(["10gbe-4x4", "dgx-a100", "dgx-h100", "25gbe", "1gbe"]),
        "nodes": draw.choice([1, 2, 3, 8, 17]),
        "gpus_per_node": draw.choice([1, 4, 8]),
        "compressor": draw.choice(["dense", "topk", "dgc", "powersgd", "fp16", "int8", "qsgd", "randk"]),
        "density": draw.choice([0.001, 0.01, 0.05]),
        "preset": draw.choice(["today", "paper"]),
        "engine": draw.choice(["flow", "analytic"]),
    }
    if draw.random() < 0.5:
        question["nic_bandwidth"] = draw.choice(["1Gbps", "25Gbps", "200Gbps"])
    if draw.random() < 0.3:
        question["fusion"] = draw.choice(["layer", "merged", "25MiB", "ddp"])
    return question


class Answers(unittest.TestCase):
    def test_a_forecast_has_seconds_interval_parts_and_assumptions(self):
        forecast = gc.forecast(model="resnet-50", cluster="dgx-a100", nodes=16, compressor="powersgd")
        self.assertTrue(forecast.interval.low < forecast.seconds < forecast.interval.high)
        self.assertTrue(math.isclose(sum(forecast.parts.values()), forecast.seconds))
        self.assertIn("PyTorch DDP on NCCL", forecast.assumptions)
        self.assertIn(forecast.verdict, ["surely pays", "surely does not pay", "cannot be told"])
        self.assertIn("<svg", forecast._repr_html_())
        self.assertIn("forecast: ", repr(forecast))

    def test_answers_equal_the_programs_to_the_last_bit(self):
        draw = random.Random(41)
        for _ in range(200 if ALL else 8):
            question = drawn_question(draw)
            code, answer = by_program("simulate", **question)
            with self.subTest(**question):
                try:
                    self.assertEqual([gc.forecast(**question).row], answer)
                except gc.InputError as error:
                    self.assertEqual((error.code, f"gradcast: {error}\n"), (code, answer))

    def test_a_sweep_has_the_programs_rows(self):
        lists = {"model": "alexnet,resnet-50", "nodes": "1,2,4", "compressor": "dense,topk"}
        _, rows = by_program("sweep", **lists)
        answer = gc.ask("sweep", model=["alexnet", "resnet-50"], nodes=[1, 2, 4],
                        compressor=["dense", "topk"], progress=False)
        self.assertEqual(answer.rows, rows)
        self.assertEqual(len(answer), 12)
        self.assertEqual(answer.summary["points"], 12)

    def test_a_word_of_python_is_a_setting_with_a_line_below_it(self):
        asked = {"model": "resnet-50", "compressor": "topk", "over": "nic-bandwidth", "to": "100Gbps", "progress": False}
        self.assertEqual(gc.breakeven(from_="10Gbps", **asked).rows, gc.breakeven(**{"from": "10Gbps"}, **asked).rows)

    def test_a_text_of_python_is_a_file(self):
        model = gc.Model("layer,tensor,elements,forward_flops\na,a.w,1000000,1000\n", "one")
        trace = gc.Trace("# device: CPU\n# batch: 4\ntensor,forward_seconds,backward_seconds\na.w,0.01,0.02\n")
        forecast = gc.forecast(model=model, trace=trace, nodes=1, gpus_per_node=1, preset="paper")
        self.assertAlmostEqual(forecast.seconds, 0.03)
        self.assertEqual(forecast.row["model"], "one")
        cluster = gc.Cluster.of("mine", nodes=2, gpus_per_node=4, nic_bandwidth="10Gbps", nic_latency="10us",
                                intra_bandwidth="100Gbps", intra_latency="5us")
        self.assertEqual(gc.forecast("alexnet", cluster=cluster).row["ranks"], 8)

    def test_properties_of_a_cluster_have_the_values_of_settings(self):
        """True wrote "True", where a file has "yes"; a path with a comma was two fields."""
        links = {"nic_bandwidth": "10Gbps", "nic_latency": "10us", "intra_bandwidth": "100Gbps", "intra_latency": "5us"}
        in_python = gc.Cluster.of(nodes=2, gpus_per_node=4, nvlink_sharp=True, nic_share=None, **links)
        as_texts = gc.Cluster.of(nodes="2", gpus_per_node="4", nvlink_sharp="yes", **links)
        self.assertEqual(in_python.text, as_texts.text)
        self.assertEqual(gc.forecast("alexnet", cluster=in_python).row["ranks"], 8)
        table = pathlib.Path("/nowhere/times, of 2 nodes.csv")
        with self.assertRaisesRegex(gc.InputError, "/nowhere/times, of 2 nodes.csv: cannot read this file"):
            gc.forecast("alexnet", cluster=gc.Cluster.of(nodes=2, gpus_per_node=4, measured_collectives=table, **links))
        for value in (object(), {}, b"2", [[2]]):
            with self.assertRaisesRegex(gc.InputError, "^nodes: "):
                gc.Cluster.of(nodes=value, **links)

    def test_the_profilers_trace_is_read_from_its_file(self):
        file = ROOT / "tests/sim/import/traces/resnet50-ddp-a100x2.json.gz"
        with self.assertWarnsRegex(UserWarning, "mine: not known: the batch"):
            trace = gc.Trace.from_profiler(file, name="mine")
        self.assertTrue(any(note.startswith("used: ") for note in trace.notes))
        with self.assertRaisesRegex(gc.InputError, "output: from_profiler gives a Trace"):
            gc.Trace.from_profiler(file, output="/nowhere")
        self.assertIn("mine", repr(trace.model))
        forecast = gc.forecast(trace=trace, cluster="dgx-a100", nodes=2)
        self.assertEqual((forecast.row["model"], forecast.row["tensors"]), ("mine", 161))

    def test_logs_of_a_cluster_make_one_with_measured_collectives(self):
        logs = sorted((ROOT / "traces" / "examples").glob("nccl-tests-*.log"))
        with tempfile.TemporaryDirectory() as folder:
            cluster = gc.Cluster.from_logs(*logs, output=folder, name="ours")
            [row] = gc.ask("collectives", cluster=cluster, nodes=2, sizes="1MiB").rows
            self.assertAlmostEqual(row["us"], 166.0, places=1)  # as the log has it

    def test_logs_of_trainings_make_measured_runs(self):
        logs = sorted((ROOT / "traces" / "examples").glob("torchtitan-*.log"))
        with tempfile.TemporaryDirectory() as folder:
            said = {"model": "llama-3-8b", "compute_seconds": "2.75s"}
            runs = gc.Runs.from_logs(*logs, output=folder, cluster="ib-400g-rails", **said)
            rows = gc.compare(measured=runs).rows
            self.assertEqual([row["nodes"] for row in rows], [1, 8])
            # A path in a row begins at the row's file, which a text in Python has no more.
            runs = gc.Runs.from_logs(*logs, output=folder, cluster=ROOT / "platforms" / "ib-400g-rails.csv", **said)
            self.assertEqual([row["predicted_seconds"] for row in gc.compare(measured=runs).rows],
                             [row["predicted_seconds"] for row in rows])

    def test_runs_are_learned_from_and_their_stack_is_used(self):
        """Objects stand wherever a path may, also among words, and no answer shows a path where no file lies."""
        header = ("source,model,trace,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
                  "overlap,iteration_seconds,collective,stack\n")
        rows = "".join(f"mine,resnet-50,iteration-resnet-50-v100,64,0.17,dgx-a100,{nodes},4,dense,1,ddp,yes,"
                       f"{seconds},nccl,ddp-nccl\n" for nodes, seconds in ((1, 0.185), (2, 0.19), (4, 0.196)))
        runs = gc.Runs(header + rows, "three")
        with tempfile.TemporaryDirectory() as folder:
            answer = gc.learn(runs, output=folder, progress=False)
            self.assertEqual(answer.rows, gc.ask("learn", runs, progress=False).rows)
            self.assertEqual([row["checked_by"] for row in answer], [2, 2, 2])  # three but the run itself
            self.assertEqual(answer.document["inputs"][0]["path"], "three")
            self.assertIn("Learned from 3 runs of three,", gc.run("learn", runs))
            stack = gc.Stack.from_file(pathlib.Path(folder) / "platforms" / "stack-three.csv")
            runs.save(pathlib.Path(folder) / "saved.csv")
            self.assertEqual([row["after_seconds"] for row in gc.learn(os.path.join(folder, "saved.csv"))],
                             [row["after_seconds"] for row in answer])
        compared = gc.compare(measured=runs, stack=stack, progress=False)
        for row in compared:  # learned: within 2 % of what was measured
            self.assertAlmostEqual(row["predicted_seconds"] / row["measured_seconds"], 1, delta=0.02)
        self.assertIn("no forecast and no test", compared.document["notes"][0])
        self.assertFalse(hasattr(runs, "path"))
        with self.assertRaisesRegex(gc.InputError, r"^bad:1: "):
            gc.learn(gc.Runs("a,b\n1,2\n", "bad"))

    def test_answers_show_names_of_texts_and_a_hash_only_where_two_share_one(self):
        links = {"nic_bandwidth": "10Gbps", "nic_latency": "10us", "intra_bandwidth": "100Gbps", "intra_latency": "5us"}
        one, two = (gc.Cluster.of(nodes=nodes, gpus_per_node=8, **links) for nodes in (4, 8))
        known = gc.Cluster.of("dgx-a100", nodes=8, gpus_per_node=8, **links)

        def clusters(*values):
            return [row["cluster"] for row in gc.ask("sweep", model="alexnet", cluster=list(values), nodes=[2])]

        self.assertEqual(clusters(one, "dgx-a100"), ["mine", "dgx-a100"])
        self.assertEqual(clusters(known), ["dgx-a100"])
        for values in ((one, two), (known, "dgx-a100")):
            first, second = clusters(*values)
            self.assertRegex(first, r"^(mine|dgx-a100)-[0-9a-f]{12}$")
            self.assertNotEqual(first, second)
        table = gc.run("sweep", model="alexnet", cluster=[one, "dgx-a100"], nodes=2).splitlines()
        at = table[0].index("speedup")
        self.assertEqual([line[at - 2:at] for line in table[2:4]], ["  ", "  "])  # columns stay below their heads
        self.assertNotRegex("\n".join(table), "[0-9a-f]{12}")

    def test_an_answer_draws_its_pictures(self):
        answer = gc.ask("sweep", model="alexnet", nodes=[1, 2, 4], compressor=["dense", "topk"], progress=False)
        self.assertIn("scaling", answer.pictures())
        self.assertTrue(answer.picture("scaling")._repr_svg_().startswith("<svg"))
        self.assertTrue(answer.picture().svg.startswith("<svg"))
        with self.assertRaises(gc.InputError):
            answer.picture("scalin")

    def test_a_report_is_made_of_answers(self):
        with tempfile.TemporaryDirectory() as folder:
            page = gc.report(gc.decide(model="resnet-50", cluster="25gbe", nodes=4, progress=False),
                             output=pathlib.Path(folder) / "report.html")
            self.assertIn("<svg", page.read_text(encoding="utf-8"))

    def test_a_file_that_changes_changes_the_next_answer(self):
        text = (ROOT / "platforms" / "10gbe.csv").read_text(encoding="utf-8")

        def bandwidth(forecaster, cluster):
            return forecaster.forecast("alexnet", cluster=cluster, nodes=2).row["nic_bandwidth"]

        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            mine = pathlib.Path(folder) / "mine.csv"
            for speed in ("10.0Gbps", "25.0Gbps", "40.0Gbps"):  # as long as the one after it, and at once
                mine.write_text(text.replace("9.43Gbps", speed), encoding="utf-8")
                kept = gc.Forecaster()
                first = bandwidth(kept, mine)
                self.assertEqual(bandwidth(gc, mine), first)
                self.assertIs(gc.usual(), gc.usual())
                mine.write_text(text.replace("9.43Gbps", "1.00Gbps"), encoding="utf-8")
                self.assertNotEqual(bandwidth(gc, mine), first)
                self.assertEqual(bandwidth(kept, mine), first)
            mine.unlink()
            with self.assertRaises(gc.InputError):
                bandwidth(gc, mine)
            there = {}
            try:
                for name, speed in (("a", "10Gbps"), ("b", "25Gbps")):
                    os.mkdir(os.path.join(folder, name))
                    os.chdir(os.path.join(folder, name))
                    pathlib.Path("c.csv").write_text(text.replace("9.43Gbps", speed), encoding="utf-8")
                    there[name] = bandwidth(gc, "c.csv")
            finally:
                os.chdir(before)
            self.assertNotEqual(there["a"], there["b"])

    def test_threads_get_what_one_gets(self):
        def ask(models, into):
            into.extend(gc.forecast(model, cluster="dgx-a100").text for model in models)

        models = ["alexnet", "vgg-16", "resnet-50"]
        alone, all_ = [], [[] for _ in range(4)]
        threads = [threading.Thread(target=ask, args=(models, each)) for each in all_]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ask(models, alone)
        self.assertEqual(all_, [alone] * 4)

    def test_commands_that_run_every_engine_find_them(self):
        self.assertIn("engines agree", gc.run("selftest"))

    def test_a_copy_answers_when_its_original_is_gone(self):
        expected = gc.forecast("alexnet").text
        for copied in (copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))):
            for forecaster in (copied(gc.Forecaster()), copied(gc.Forecaster(ROOT))):
                self.assertEqual(forecaster.forecast("alexnet").text, expected)
            with self.assertRaisesRegex(TypeError, "cannot be copied"):
                copied(gc.Forecaster()._handle)

    def test_another_process_takes_a_forecaster(self):
        spawn = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
            told = pool.submit(gc.Forecaster.run, gc.Forecaster(), "simulate", model="alexnet", format="json")
            self.assertEqual(json.loads(told.result(60))["results"], [gc.forecast("alexnet").row])

    def test_the_command_comes_with_the_package(self):
        done = subprocess.run([sys.executable, "-m", "gradcast", "simulate", "--model", "alexnett"], text=True,
                              capture_output=True, env={**PLAIN, "PYTHONPATH": str(ROOT / "python")}, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertTrue(done.stderr.startswith("gradcast: unknown model 'alexnett'; did you mean 'alexnet'?"))


class Wrong(unittest.TestCase):
    def line_of(self, question):
        with self.assertRaises(gc.InputError) as raised:
            gc.forecast(**question)
        line = str(raised.exception)
        self.assertNotIn("\n", line)
        return line

    def test_wrong_questions_are_one_line(self):
        for question, line in [
            ({"model": "resnet-50", "nodes": 0}, "--nodes: '0' is not a count from 1 to 1000000"),
            ({"model": "resnet-50", "nodez": 2}, "unknown flag '--nodez'; did you mean '--nodes'?"),
            ({}, "--model is missing"),
            ({"model": "resnet-50", "compressor": "topk", "density": math.nan}, "--density: 'nan'"),
            ({"model": b"resnet-50"}, "model: bytes is no text"),
            ({"model": object()}, "model: object is no text"),
            ({"model": "a\0b"}, "has a zero byte"),
            ({"model": "\ud800"}, "a character that UTF-8 cannot express"),
            ({"model": "resnet-50\n"}, "--model: the value has a line break"),
            ({"model": "resnet-50", "nodes": []}, "nodes: the list is empty"),
            ({"model": "resnet-50", "nodes": [1, 2]}, "--nodes: '1,2'"),
            ({"model": "resnet-50", "cluster": "/nowhere.csv"}, "/nowhere.csv"),
        ]:
            with self.subTest(question=repr(question)):
                self.assertIn(line, self.line_of(question))
        with self.assertRaises(gc.InputError):
            gc.Forecaster("/nowhere")
        with self.assertRaises(gc.InputError):
            gc.Model("")
        with self.assertRaises(gc.InputError):
            gc.run("simulat")

    def test_settings_that_send_an_answer_elsewhere_are_refused(self):
        for call, line in [
            (lambda: gc.forecast("alexnet", output="/dev/null"), "output: an answer in Python has rows; run('simul"),
            (lambda: gc.decide(model="alexnet", output="/dev/null", progress=False), "output: "),
            (lambda: gc.ask("sweep", model="alexnet", output="/dev/null", progress=False), "output: "),
            (lambda: gc.forecast("alexnet", help=True), "help: "),
            (lambda: gc.ask("sweep", help=True), "help: "),
            (lambda: gc.forecast("alexnet", format="csv"), "format: "),
            (lambda: gc.run("fit", "--leave-one-out", "model"), "'--leave-one-out' stands where words stand: flags are "),
            (lambda: gc.ask("man"), "unknown flag '--format'"),
            (lambda: gc.forecast("alexnet", config="/nowhere"), "config: Python reads no config file"),
            (lambda: gc.run("simulate", model="alexnet", config="/nowhere"), "config: "),
            (lambda: gc.ask("decide", "/nowhere", model="alexnet"), "decide takes settings only"),
            (lambda: gc.report(gc.forecast("alexnet"), output="/nowhere/r.html"), "cannot write /nowhere/r.html"),
            (lambda: gc.report(5, output="r.html"), "report: int is no path and no answer"),
            (lambda: gc.report([1], output="r.html"), 'no answer; ask("sweep", ...), decide'),
            (lambda: gc.report(gc.ask("list"), output="/dev/null"), "the answer of list: holds 'gradcast/list'"),
            (lambda: gc.ask("list").picture("x"), "the answer of list: "),
            (lambda: gc.ask("learn", 5), "learn: words without a name are texts, paths, or what gradcast makes"),
            (lambda: gc.report(gc.forecast("alexnet"), output=b"r.html"), "report: output: bytes is no path"),
            (lambda: gc.Trace.from_profiler(None), "NoneType is no torch.profiler.profile and no path"),
            (lambda: gc.Model("a").save("/nowhere/m.csv"), "cannot write /nowhere/m.csv: No such file"),
            (lambda: gc.Model("a").save(None), "NoneType is no path"),
            (lambda: gc.answers.Picture("<svg/>").save("/nowhere/p.svg"), "cannot write /nowhere/p.svg: No such file"),
            (lambda: gradcast.probe.settings(None), "folder: NoneType is no path"),
            (lambda: gc.Forecaster("\udc80"), "a character that UTF-8 cannot express"),
            (lambda: gc.Forecaster(5), "data: int is no path"),
            (lambda: gc.run("\udc80"), "a character that UTF-8 cannot express"),
            (lambda: gc.Model("\udc80"), "a character that UTF-8 cannot express"),
        ]:
            with self.subTest(line), self.assertRaises(gc.InputError) as raised:
                call()
            self.assertIn(line, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))
        self.assertEqual(gc.forecast("alexnet", config="none").text, gc.forecast("alexnet").text)

    def test_values_of_several_kinds_mean_the_same(self):
        class Scalar:  # as NumPy's and PyTorch's of no dimension
            shape = ()

            def __init__(self, value):
                self.value = value

            def item(self):
                if self.value is None:
                    raise RuntimeError("no data")
                return self.value

            def __iter__(self):
                raise TypeError("iteration over a 0-d array")

        expected = gc.forecast("alexnet", nodes=2, overlap=True).text
        self.assertEqual(gc.forecast("alexnet", nodes=Scalar(2), overlap=Scalar(True)).text, expected)
        self.assertIn("no value: no data", self.line_of({"model": "alexnet", "nodes": Scalar(None)}))
        self.assertIn("a set has no order", self.line_of({"model": {"alexnet"}}))
        self.assertIn("a list within a list", self.line_of({"model": "alexnet", "nodes": [iter([1])]}))
        made = gc.Cluster.of(nodes=2, gpus_per_node=4, nic_bandwidth="10Gbps", nic_latency="10us",
                             intra_bandwidth="100Gbps", intra_latency="5us")
        rows = [gc.ask("sweep", model="alexnet", clusters=clusters, nodes=nodes, progress=False).rows
                for clusters, nodes in (([made, "1gbe"], [1, 2]), (iter([made, "1gbe"]), (Scalar(1), 2)))]
        self.assertEqual(len(rows[0]), 4)
        self.assertEqual(rows[0], rows[1])

    def test_a_collective_alone_has_no_evidence(self):
        self.assertEqual(gc.forecast(payload="1MiB", cluster="dgx-a100").evidence, "")

    def test_10000_random_calls_leave_the_process_alive(self):
        draw = random.Random(42)
        odd = [None, True, -1, 0, 1, 10**30, 0.5, math.inf, math.nan, "", "-", "--help", "a,b", "1..3", "\x01",
               "é" * 300, b"x", [], [1], [[1]], {}, {"a": 1}, object(), len, "all", "none", "best", "25Gbps", "1e309",
               "100MiB", pathlib.Path("/"), "/dev/null", "../x.csv"]
        names = ["model", "cluster", "nodes", "gpus_per_node", "compressor", "density", "nic_bandwidth", "batch",
                 "engine", "payload", "fusion", "stack", "preset", "collective", "parameter", "x", "", "model=x"]
        ends = {"answer": 0, "InputError": 0}
        for _ in range(10_000 if ALL else 300):
            question = {name: draw.choice(odd) for name in draw.sample(names, draw.randint(0, 3))}
            if draw.random() < 0.7:
                question.setdefault("model", "lenet-5")
                question.setdefault("cluster", "10gbe-4x4")
            try:
                gc.forecast(**question)
                ends["answer"] += 1
            except gc.InputError as error:
                self.assertNotIn("\n", str(error))
                ends["InputError"] += 1
        self.assertGreater(min(ends.values()), 0, ends)

    def test_ctrl_c_ends_a_sweep(self):
        asks = ("import gradcast as gc, sys; print('on', flush=True); "
                "gc.ask('sweep', model='gpt2-xl', cluster='dgx-a100', nodes=range(1, 400), compressor='all',"
                " progress=False)")
        child = subprocess.Popen([sys.executable, "-c", asks], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True, env={**PLAIN, "PYTHONPATH": str(ROOT / "python")})
        child.stdout.readline()
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        begin = time.monotonic()
        _, errors = child.communicate(timeout=30)
        self.assertIn("KeyboardInterrupt", errors)
        self.assertLess(time.monotonic() - begin, 10)

    def test_ctrl_c_is_pythons_after_any_command(self):
        for command in ("train", "calibrate", "fit"):
            with self.subTest(command):
                gc.run(command, help=True)
                self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
                with self.assertRaises(KeyboardInterrupt):
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
