"""Lists the functions of a module that can be measured.

Called with the path of the file to write, the name of the module, and a regular
expression when there is one.
"""
import importlib
import inspect
import json
import os
import re
import sys

sys.path[0] = os.getcwd()
module = importlib.import_module(sys.argv[2])


def selected(name):
    if len(sys.argv) > 3:
        return re.search(sys.argv[3], name)
    return name.startswith(("bench_", "benchmark_"))


def measurable(value):
    return (
        inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not inspect.iscoroutinefunction(value)  # a call would only make something to be run
        and not inspect.isgeneratorfunction(value)
        and not inspect.isasyncgenfunction(value)
    )


cases = sorted(name for name, value in vars(module).items() if measurable(value) and name[0] != "_" and selected(name))
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({"cases": cases}, file)
