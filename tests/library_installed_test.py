#!/usr/bin/env python3
"""As a user of the library finds it: install it, build examples/forecast by find_package, run it.

usage: library_installed_test.py BUILD_FOLDER
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = sys.argv.pop()


def run(*words, **more):
    done = subprocess.run(words, text=True, capture_output=True, timeout=300, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.folder.name) / "installed"
        run("cmake", "--install", BUILD, "--prefix", str(cls.prefix))
        cls.libraries = [next(cls.prefix.rglob(f"lib{name}.so")) for name in ("gradcast", "gradcast_compressors")]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_project_of_two_files_finds_it_and_asks_it(self):
        build = pathlib.Path(self.folder.name) / "build"
        run("cmake", "-S", str(ROOT / "examples/forecast"), "-B", str(build), "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", str(build))
        said = run(str(build / "forecast"), cwd="/", env={"PATH": "/usr/bin:/bin"})
        self.assertRegex(said, r"(?m)^0\.\d+ s, 90 % in 0\.\d+ to 0\.\d+; powersgd: .+$")
        self.assertIn("\n2 rows of ", said)

    def test_its_headers_compile_alone(self):
        include = str(self.prefix / "include")
        headers = sorted((self.prefix / "include/gradcast").iterdir())
        self.assertLessEqual(len(headers), 8)
        for header in headers:
            language, standard = ("c", "c99") if header.suffix == ".h" else ("c++", "c++17")
            run("g++" if language == "c++" else "gcc", f"-std={standard}", "-pedantic", "-Wall", "-Wextra",
                "-Werror", "-fsyntax-only", "-I", include, "-x", language, "-",
                input=f"#include <gradcast/{header.name}>\n")

    def test_libraries_show_their_interface_and_nothing_else(self):
        ours = re.compile(r"gradcast_\w+$|(vtable for |typeinfo for |typeinfo name for )?gradcast::")
        for library, one in zip(self.libraries, ("gradcast_run", "gradcast_sparse_encode")):
            shown = run("nm", "-DC", "--defined-only", str(library)).splitlines()
            names = [line.split(" ", 2)[2] for line in shown]
            self.assertIn(one, names)
            self.assertEqual([name for name in names if not ours.match(name)], [])


if __name__ == "__main__":
    unittest.main()
