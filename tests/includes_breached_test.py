#!/usr/bin/env python3
"""The test of includes finds what a file uses and does not include, and takes nothing else for that: sources put
together on purpose, in a small tree of their own with the real table of floors."""
import pathlib
import shutil
import sys
import tempfile

import includes_test

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADER = """#pragma once
#include <string>
namespace gradcast {
/// What a Parcel holds.
struct Parcel {
  std::string name;
  struct Stamp {};
};
enum class Kind { Letter, Card };
struct Later;
using Weight = double;
inline constexpr int kMostParcels[] = {3};
template <class T, class U = Parcel>
T weigh(const Parcel& parcel, int (*how)(int) = nullptr);
[[nodiscard]] const std::string& address_of(const Parcel& parcel);
}  // namespace gradcast
"""
failures = 0


def expect(source, *says, name="sim/plan/y.cpp"):
    """Checks that the test says each of these of a file with this text, and nothing else."""
    global failures
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copy(ROOT / "ARCHITECTURE.md", root)
        for path, text in {"sim/base/parcel.hpp": HEADER, "sim/base/post.hpp": '#include "sim/base/parcel.hpp"\n',
                           "sim/cli/above.hpp": "struct Above {};\n", name: source}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        found = [f"{line}: {what} without {header}" for _, line, what, header in includes_test.breaches(root)]
    if found != list(says):
        print(f"of\n{source}\nit says {found}\nand not {list(says)}", file=sys.stderr)
        failures += 1


OURS = "without sim/base/parcel.hpp"
# The standard library.
expect("// A comment.\nstd::vector<int> v;\n", "2: std::vector without <vector>")
expect("#include <vector>\nstd::vector<int> v;\nint n = std::max(1, 2);\n", "3: std::max without <algorithm>")
expect('#include "sim/base/parcel.hpp"\nstd::string s;\nstd::string_view v;\n')  # <string> has string_view
expect("auto n = s.count(); auto sort = 1; // std::sort\nauto t = \"std::sort\";\n")
expect("#include <filesystem>\nstd::filesystem::path p;\nstd::error_code e;\n")
# Our own headers: types, functions, constants, directly and through another header.
expect("Parcel p;\n", f"1: Parcel {OURS}")
expect("void f(const Parcel& p);\n", f"1: Parcel {OURS}")
expect("Weight w = 0;\nint n = weigh<int>(p);\nauto a = address_of(p);\n",
       f"1: Weight {OURS}", f"3: address_of {OURS}", f"2: weigh {OURS}")
expect("int n = 2 * kMostParcels[0];\n", f"1: kMostParcels {OURS}")
expect("Kind k = Kind::Card;\n", f"1: Kind {OURS}")
expect('#include "sim/base/parcel.hpp"\nParcel p; Weight w = weigh<int>(p) * kMostParcels[0];\n')
expect('#include "sim/base/post.hpp"\nParcel p;\n')
expect("Parcel p;\n", f"1: Parcel {OURS}", name="sim/base/other.hpp")
# Names that mean something else here.
expect("struct Parcel {}; Parcel p;\n")
expect("struct Parcel; Parcel* p;\n")
expect("using other::Parcel;\nParcel p;\n")
expect("template <typename Weight> Weight f(Weight w);\n")
expect("enum class E { Parcel }; E e = E::Parcel;\n")
expect("auto weigh = [](int) { return 1; };\nint n = weigh(2);\n")
expect("struct S { int weigh(); int f() { return weigh(); } };\n")
expect("int S::f() { return weigh(); }\nint S::weigh() { return 1; }\n")
expect("int n = box.weigh(1) + box->weigh(2) + Box::weigh(3);\nLater* l; Stamp s; Card c;\n")
expect("Above a;\n")  # a room above may not be included: it cannot be meant
sys.exit(1 if failures else 0)
