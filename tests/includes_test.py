#!/usr/bin/env python3
"""Shows that each file of kernels/ and sim/ includes what it uses, itself or through headers that it includes.

The build compiles several files of a room in one go, where one file sees what the files before it include.
This test reads the sources. It knows two kinds of names: those of the standard library (STANDARD), and those that
our headers declare outside of classes. Each that a file uses must be declared in a header that it reaches.
usage: includes_test.py ROOT"""
import collections
import pathlib
import re
import sys

# Headers of the standard library, and what each declares in std::. <cstddef> and <utility> are left out: every
# container brings what they declare.
STANDARD = {
    "algorithm": "all_of any_of binary_search clamp copy copy_if count count_if equal_range fill find find_if "
                 "find_if_not generate is_sorted lower_bound max max_element min min_element minmax_element none_of "
                 "nth_element partial_sort remove_if reverse rotate set_difference shuffle sort stable_sort "
                 "transform unique upper_bound",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast countr_zero countl_zero popcount",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "abs cbrt ceil cos erf exp exp2 fabs floor hypot isfinite isinf isnan ldexp log log10 log1p log2 lround "
             "nextafter pow round sin sqrt tanh trunc",
    "condition_variable": "condition_variable",
    "csignal": "raise signal sig_atomic_t",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "cstdio": "FILE fclose fflush fopen fprintf fputs fread fwrite printf putchar puts rename snprintf",
    "cstdlib": "_Exit abort calloc exit free getenv malloc strtod strtol",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strerror strlen strsignal",
    "ctime": "gmtime strftime tm",
    "deque": "deque",
    "exception": "current_exception exception_ptr rethrow_exception uncaught_exceptions",
    "filesystem": "filesystem",
    "fstream": "fstream ifstream ofstream",
    "functional": "cref function hash less greater multiplies plus ref",
    "iostream": "cerr cin cout",
    "iterator": "back_inserter inserter istreambuf_iterator ostream_iterator",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "make_shared make_unique shared_ptr unique_ptr weak_ptr",
    "mutex": "lock_guard mutex once_flag scoped_lock unique_lock",
    "numbers": "numbers",
    "numeric": "accumulate exclusive_scan gcd inner_product iota lcm partial_sum reduce",
    "optional": "make_optional nullopt nullopt_t optional",
    "queue": "priority_queue queue",
    "random": "mt19937 mt19937_64",
    "set": "multiset set",
    "span": "as_bytes as_writable_bytes span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "domain_error invalid_argument length_error logic_error out_of_range runtime_error",
    "string": "getline stod stoi stol stoll stoul stoull string to_string",
    "string_view": "string_view",
    "system_error": "error_code generic_category system_category system_error",
    "thread": "this_thread thread",
    "tuple": "apply forward_as_tuple make_tuple tie tuple tuple_element_t tuple_size_v",
    "typeindex": "type_index",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
# Headers that bring others along.
CONTAINED = {"string": ["string_view"], "map": ["tuple"], "mutex": ["tuple"], "fstream": ["string"],
             "filesystem": ["string", "string_view", "chrono", "system_error"], "iostream": ["string"], "sstream": ["string"],
             "thread": ["chrono"], "regex": ["string"], "functional": ["tuple"],
             "stdexcept": ["string", "string_view"], "system_error": ["string", "string_view", "stdexcept"],
             "condition_variable": ["mutex"], "unordered_map": ["tuple"], "random": ["numeric"]}
# Words that do not declare the name behind them.
KEYWORDS = set("return else case throw new delete co_return and or not in operator sizeof typedef do goto".split())

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((?s:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'',
                             re.DOTALL)


def bare(text):
    """The text without comments, literals and directives."""
    text = COMMENT_OR_TEXT.sub(lambda m: '""' if m[0][0] in "\"R" else " ", text)
    return re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", text, flags=re.MULTILINE)


def statements(text):
    """Statements outside of all braces but those of namespaces: declarations, heads of definitions."""
    depth = 0
    start = 0
    for at in re.finditer(r"[{};]", text):
        sign = at[0]
        if sign == "{":
            if depth == 0:
                head = text[start:at.start()]
                if re.search(r"\bnamespace(\s+[\w:]+)?\s*$", head) or re.search(r'\bextern\s*""\s*$', head):
                    start = at.end()
                    continue
                yield head + "{"
            depth += 1
        elif sign == "}":
            depth = max(0, depth - 1)
            if depth == 0:
                start = at.end()
        elif depth == 0:
            yield text[start:at.end()]
            start = at.end()


def declared_by(text):
    """The names that a header declares outside of classes: those of types, and those of functions and constants."""
    types, others = set(), set()
    for statement in statements(text):
        statement = re.sub(r"\[\[.*?\]\]", "", statement, flags=re.DOTALL).strip()
        while statement.startswith("template"):
            at = depth = 0
            for at, sign in enumerate(statement):
                depth += (sign == "<") - (sign == ">")
                if sign == ">" and depth == 0:
                    break
            statement = statement[at + 1:].strip()
        kind = re.match(r"(?:struct|class|enum class|enum|union|concept)\s+(\w+)(.*)$", statement, re.DOTALL)
        if kind:
            # `struct X;` and `struct X f();` declare no X that one could use.
            if kind[2].strip() != ";" and re.match(r"\s*(final)?\s*[:={]", kind[2]):
                types.add(kind[1])
            continue
        alias = re.match(r"using\s+(\w+)\s*=", statement)
        if alias:
            types.add(alias[1])
            continue
        if statement.startswith(("using", "static_assert", "friend", "namespace")):
            continue
        name = re.match(r"[^=({]*?(?<![:\w])([A-Za-z_]\w*)\s*(\[\w*\]\s*)?[=({;]", statement)
        if name and "operator" not in statement[:name.end()] and re.search(r"\w[\s*&>]+\w+\s*(\[\w*\]\s*)?$",
                                                                          statement[:name.end() - 1]):
            others.add(name[1])
    return types, others


def is_constant(name):
    return re.match("k[A-Z]", name) is not None


class File:
    def __init__(self, root, path):
        text = path.read_text()
        self.name = str(path.relative_to(root))
        self.lines = text.split("\n")
        self.own = []
        self.standard = set()
        for sign, included in INCLUDE.findall(text):
            if sign == '"':
                self.own.append(included)
            else:
                self.standard.add(included)
        self.text = bare(text)
        self.types, self.others = declared_by(self.text)
        # Types and enumerators of inner scopes: no names to look for, but they may be what is meant.
        self.inner = set(re.findall(r"\b(?:struct|class|enum|union|using)\s+(\w+)\s*[=:{]", self.text))
        for body in re.findall(r"\benum\b[^;{]*{([^}]*)}", self.text):
            self.inner |= set(IDENTIFIER.findall(body))
        self.std_names = set(re.findall(r"\bstd::(\w+)", self.text))
        self.text = re.sub(r"\bstd(::\w+)+", "std", self.text)
        self.words = set(IDENTIFIER.findall(self.text))

    def declares_itself(self, name, is_type):
        """True if the file declares the name in any scope: a type, an alias, a parameter, a member, a local one."""
        if is_type:
            return re.search(rf"\b(struct|class|enum|union|typename|using)\s+{name}\b|"
                             rf"\busing\s+[\w:]+::{name};", self.text) is not None
        if is_constant(name):
            return re.search(rf"[\w>]\s+{name}\s*(\[\w*\]\s*)?[={{]", self.text) is not None
        for m in re.finditer(rf"([\w>\]*&,]+)\s+[*&]*{name}\b", self.text):
            before = IDENTIFIER.findall(m[1])
            if before and before[-1] not in KEYWORDS and not m[1].endswith(","):
                return True
            if m[1][-1] in ">*&":
                return True
        return re.search(rf"[>*&]{name}\b\s*[=;,({{)]", self.text) is not None or \
            re.search(rf"\b[A-Z]\w*::{name}\s*\(|\busing\s+[\w:]+::{name};", self.text) is not None or \
            re.search(rf"\[[^\]\n]*\b{name}\b[^\]\n]*\]\s*=", self.text) is not None

    def uses(self, name, is_type):
        if is_type:
            return re.search(rf"(?<![.>\w])(?<!::){name}\b(?!\s*=[^=])", self.text) is not None
        return re.search(rf"(?<![.>\w~])(?<!::){name}\s*(<[^;(){{}}]*>)?\s*\(", self.text) is not None or \
            re.search(rf"\b[a-z_]+::{name}\b", self.text) is not None or \
            is_constant(name)


def room_of(name):
    parts = name.split("/")
    return parts[1] if parts[0] == "sim" else parts[0]


def floors(root):
    """The floor of each room of ARCHITECTURE.md, and the rooms beside it that it may include."""
    rows = re.findall(r"^\| *(\d+) *\| *`([a-z]+)` *\|([^|]*)\|", (root / "ARCHITECTURE.md").read_text(), re.MULTILINE)
    return {room: (int(floor), re.findall("[a-z]+", beside)) for floor, room, beside in rows}


def sources(root):
    for folder in ("kernels", "sim"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".cu", ".cuh"):
                yield File(root, path)


def reached(file, files):
    seen, left = {}, [file]
    while left:
        one = left.pop()
        if one.name in seen:
            continue
        seen[one.name] = one
        left += [files[name] for name in one.own if name in files]
    return seen.values()


def line_of(file, pattern):
    for number, line in enumerate(file.lines, 1):
        if re.search(pattern, COMMENT_OR_TEXT.sub("", line)):
            return number
    return 1


def breaches(root):
    files = {file.name: file for file in sources(root)}
    types, others = collections.defaultdict(set), collections.defaultdict(set)
    for file in files.values():
        if file.name.endswith((".hpp", ".cuh")):
            for name in file.types:
                types[name].add(file.name)
            for name in file.others:
                others[name].add(file.name)
    table = floors(root)

    def may_include(one, other):
        of, to = room_of(one), room_of(other)
        return of == to or table[to][0] < table[of][0] or to in table[of][1]

    header_of = {name: header for header, names in STANDARD.items() for name in names.split()}
    for file in files.values():
        near = reached(file, files)
        standard = set().union(*(one.standard for one in near))
        for header in list(standard):
            standard.update(CONTAINED.get(header, []))
        for name in sorted(file.std_names):
            if name in header_of and header_of[name] not in standard:
                yield file, line_of(file, rf"\bstd::{name}\b"), f"std::{name}", f"<{header_of[name]}>"
        near_names = set().union(*(one.types | one.others | one.inner for one in near))
        for name in sorted(file.words & (types.keys() | others.keys())):
            if name in near_names or not file.uses(name, name in types) or file.declares_itself(name, name in types):
                continue
            where = sorted(header for header in types.get(name, set()) | others.get(name, set()) if may_include(file.name, header))
            if where:
                yield file, line_of(file, rf"\b{name}\b"), name, " or ".join(where)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    found = 0
    for file, line, name, header in breaches(root):
        print(f"{file.name}:{line}: uses {name} without {header}")
        found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
