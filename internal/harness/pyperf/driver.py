"""Measures one function with pyperf. Generated; kept with the results.

The first process starts workers, which run this file again. Each digests its whole
environment before it imports anything of the benchmark, so that a difference shows.
"""
import hashlib
import json
import os
import sys

MODULE, FUNCTION, RECORDED = None, None, None  # set by the generator

environment = dict(os.environ)
text = json.dumps(environment, sort_keys=True, separators=(",", ":"))
digest = hashlib.sha256(text.encode("ascii")).hexdigest()
worker = "--worker" in sys.argv[1:]
folder = os.path.dirname(os.path.abspath(__file__))


def keep(name, value):
    path = os.path.join(folder, name)
    part = "%s.%d" % (path, os.getpid())
    with open(part, "w", encoding="utf-8") as file:
        json.dump(value, file, sort_keys=True)
    os.replace(part, path)


if worker:
    keep("worker-environment.json", {name: environment[name] for name in RECORDED if name in environment})
else:
    keep("environment.json", {"sha256": digest})

sys.path[0] = os.getcwd()
import pyperf  # noqa: E402

runner = pyperf.Runner(metadata={"benchx_env_sha256": digest})
function = None
if worker:
    import importlib

    function = getattr(importlib.import_module(MODULE), FUNCTION)
runner.bench_func(FUNCTION, function)
