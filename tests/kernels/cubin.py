"""Reads the machine code that ptxas made of each kernel, without NVIDIA's cuobjdump: which memory
instructions there are, and how wide.

A cubin is a 64-bit ELF file; the code of a kernel is its section ".text.<symbol>". From sm_70 on an
instruction has 128 bits: bits 0 to 8 name the operation, 9 to 11 the kind of its operands, and for
the operations below bits 73 to 75 the width. NVIDIA publishes none of that. So the test that uses
this compiles a kernel whose instructions are known, for each architecture, and looks at it first.
"""
import struct
from collections import Counter

OPERATIONS = {0x181: "LDG", 0x186: "STG", 0x183: "LDL", 0x187: "STL"}
WIDTHS = ("8", "8", "16", "16", "32", "64", "128", "?")
INSTRUCTION_BYTES = 16


class CubinError(Exception):
    pass


def sections(elf):
    """(name, content) of each section."""
    if elf[:5] != b"\x7fELF\x02":
        raise CubinError("no 64-bit ELF file; a cubin would be one")
    headers_at, = struct.unpack_from("<Q", elf, 40)
    header_bytes, headers, names_index = struct.unpack_from("<HHH", elf, 58)
    places = []
    for number in range(headers):
        header = headers_at + number * header_bytes
        name_at, = struct.unpack_from("<I", elf, header)
        begin, length = struct.unpack_from("<QQ", elf, header + 24)
        places.append((name_at, begin, length))
    names = places[names_index][1]
    for name_at, begin, length in places:
        name = elf[names + name_at:].split(b"\0", 1)[0].decode()
        yield name, elf[begin:begin + length]


def memory_instructions(path):
    """For each kernel's symbol: how often "LDG.128", "STL.32", ... stand in its code."""
    with open(path, "rb") as file:
        elf = file.read()
    kernels = {}
    for name, code in sections(elf):
        prefix, _, symbol = name.partition(".text.")
        if prefix or not symbol:
            continue
        counts = kernels[symbol] = Counter()
        for low, high in struct.iter_unpack("<QQ", code):
            operation = OPERATIONS.get(low & 0x1FF)
            if operation:
                counts[f"{operation}.{WIDTHS[high >> 9 & 7]}"] += 1
    if not kernels:
        raise CubinError("no kernel in it")
    return kernels
