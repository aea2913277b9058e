"""The commands that the documents show, with the output below each: CONTRIBUTING.md says how a document writes them."""

import dataclasses
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"),
                    *(ROOT / folder / "README.md" for folder in ("models", "platforms", "traces"))])
COMMAND = re.compile(r"(?:scripts/|gradcast |cp |parallel )")
LEFT_OUT = "..."


@dataclasses.dataclass
class Command:
    line: int
    text: str  # as it is typed, on one line, without comment

    @property
    def arguments(self):
        """The arguments that gradcast gets; None where another program is called."""
        words = shlex.split(self.text.split(" && ")[0])
        return words[1:] if words[0] in ("gradcast", "scripts/run") else None


@dataclasses.dataclass
class Example:
    """Commands one after another, and the lines that they print together; no lines: the document shows none."""
    commands: list
    output: list  # pairs of line number and text


@dataclasses.dataclass
class File:
    """A file that the reader writes: its block begins with `# <name>.toml`."""
    name: str
    text: str


def blocks(text):
    """The indented code blocks: lists of line number and text without the indent."""
    block, before = [], ""
    for number, line in enumerate([*text.split("\n"), "end"], 1):
        if line.startswith("    ") and (block or not before.strip()):
            block.append((number, line[4:]))
        elif block and not line.strip():
            block.append((number, ""))
        elif block:
            yield block
            block = []
        before = line


def uncommented(line):
    return re.sub(r"\s+#\s.*", "", line).strip()


def steps(text):
    """The steps of a document's reader, in order: each File written, each Example run."""
    for block in blocks(text):
        example, file, continued = None, None, False
        for number, line in block:
            if file is not None:
                if line:
                    file.text += line + "\n"
                    continue
                yield file
                file = None
            elif continued:
                command = example.commands[-1]
                command.text = command.text.removesuffix("\\").strip() + " " + uncommented(line)
                continued = command.text.endswith("\\")
            elif named := re.fullmatch(r"# (\S+\.toml)", line):
                file = File(named.group(1), line + "\n")
            elif COMMAND.match(line):
                if example is not None and example.output:
                    yield example
                    example = None
                if example is None:
                    example = Example([], [])
                example.commands.append(Command(number, uncommented(line)))
                continued = example.commands[-1].text.endswith("\\")
            elif line and example is not None:
                example.output.append((number, line))
        if file is not None:
            yield file
        if example is not None:
            yield example


def inline_commands(text):
    """Commands that sentences name: `gradcast fit --save`, or without the program's name where a flag follows."""
    prose = re.sub(r"(?m)^    .*", "", text)
    for found in re.finditer(r"`(?:(?:gradcast|scripts/run) )?((?!cmake|nsys)[a-z]+ (?:[^`]+ )?--[^`]+)`", prose):
        yield Command(prose.count("\n", 0, found.start()) + 1, "gradcast " + " ".join(found.group(1).split()))


def shown_commands():
    """All commands of the documents for gradcast, as lists of arguments, each once."""
    found = []
    for path in DOCUMENTS:
        for step in steps(path.read_text()):
            for command in step.commands if isinstance(step, Example) else []:
                if command.arguments is not None and command.arguments not in found:
                    found.append(command.arguments)
    return found
