#!/usr/bin/env python3
"""The cells of docs/tutorial.ipynb run one after another, and give the outputs that stand below them.
Needs torch and pandas; exits with 77 without them. A cell tagged `varies` is run, and its output is not compared.

usage: notebook_test.py            compare
       notebook_test.py --update   write the outputs anew (needs nbclient and ipykernel)
"""
import ast
import contextlib
import difflib
import io
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NOTEBOOK = ROOT / "docs/tutorial.ipynb"
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

try:
    import pandas
    import torch  # noqa: F401
except ImportError:
    print("skipped: no torch or no pandas")
    sys.exit(77)


pandas.set_option("display.max_columns", 20, "display.width", 80)  # as a notebook's kernel has it


def run_cell(source, names):
    """The output of a cell: the text that it prints, and the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "cell", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None
    return said.getvalue(), value


def shown_below(cell):
    texts = []
    for output in cell["outputs"]:
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        texts.append("".join(text))
    return "\n".join(texts)


def plain(text):
    """The text without what differs from run to run or between versions of pandas: addresses and blanks."""
    words = (word for word in text.split() if not word.startswith("0x"))
    return " ".join(words)


class Notebook(unittest.TestCase):
    def test_each_cell_gives_the_output_below_it(self):
        names = {}
        for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] != "code":
                continue
            source = "".join(cell["source"])
            said, value = run_cell(source, names)
            got = said + ("" if value is None else repr(value) if not isinstance(value, list)
                          else str(value))
            if "varies" in cell["metadata"].get("tags", []):
                continue
            with self.subTest(source):
                expected, real = plain(shown_below(cell)), plain(got)
                self.assertEqual(expected, real, "\n".join(difflib.ndiff([expected], [real])))


def update():
    import nbclient
    import nbformat

    notebook = nbformat.read(NOTEBOOK, 4)
    nbclient.NotebookClient(notebook, timeout=300).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        unittest.main(argv=sys.argv[:1])
