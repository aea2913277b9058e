"""The networks: where they come from, and whose tensors theirs are."""
import collections
import csv
import importlib

from .errors import BAD_INPUT, MISSING, TraceError, one_line

Source = collections.namedtuple("Source", "package function")
SOURCES = {
    "alexnet": Source("torchvision", "alexnet"),
    "vgg-16": Source("torchvision", "vgg16"),
    "resnet-50": Source("torchvision", "resnet50"),
    "inception-v4": Source("timm", "inception_v4"),
}
Row = collections.namedtuple("Row", "layer tensor elements")


def read_model(path):
    """The rows of models/<model>.csv."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.DictReader(line for line in file if not line.startswith("#"))
            return [Row(row["layer"], row["tensor"], int(row["elements"])) for row in rows]
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise TraceError(f"{path}: {one_line(error)}", BAD_INPUT) from error


def require_packages(models):
    """Imports the models' packages, or raises TraceError, before anything is measured."""
    for model in models:
        package = SOURCES[model].package
        try:
            importlib.import_module(package)
        except Exception as error:
            raise TraceError(f"{model} needs {package}: {one_line(error)}", MISSING) from error


def build_network(model):
    """The network, with random weights."""
    package, function = SOURCES[model]
    if package == "torchvision":
        return getattr(importlib.import_module("torchvision.models"), function)(weights=None)
    return importlib.import_module(package).create_model(function, pretrained=False)


def network_text(model):
    """The network that a file was recorded of, in words."""
    package, function = SOURCES[model]
    return f"{package} {function}, random weights; images random, 3 x 224 x 224, NCHW"


def names_of_tensors(network, rows, path):
    """({parameter's name: row}, how it was found)."""
    counts = {name: parameter.numel() for name, parameter in network.named_parameters()}
    if len(counts) != len(rows):
        raise TraceError(f"{path}: {len(rows)} tensors, the network here has {len(counts)}",
                         BAD_INPUT)
    if set(counts) == {row.tensor for row in rows}:
        mapping, how = {row.tensor: row for row in rows}, "by name"
    else:
        mapping, how = dict(zip(counts, rows)), "in order, as the network names them otherwise"
    for name, row in mapping.items():
        if counts[name] != row.elements:
            raise TraceError(f"{path}: tensor {row.tensor} has {row.elements} elements, "
                             f"{name} of the network here {counts[name]}", BAD_INPUT)
    return mapping, how
