import argparse
import hashlib
import importlib
import inspect
import itertools
import json
import os
import pkgutil
import re
import sys
import time
import traceback

from .machine import MachineCollection

COLUMNS = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b", "stats_q_25", "stats_q_75",
           "stats_number", "stats_repeat", "samples", "profile"]


def discover(folder):
    sys.path.insert(0, os.path.dirname(folder))
    package = os.path.basename(folder)
    found = {}
    for module in pkgutil.iter_modules([folder]):
        loaded = importlib.import_module(package + "." + module.name)
        for name, function in sorted(vars(loaded).items()):
            if callable(function) and name.startswith(("time_", "track_")):
                params = [[repr(v) for v in values] for values in getattr(function, "params", [])]
                full = module.name + "." + name
                found[full] = function, {
                    "name": full, "type": name.split("_")[0], "unit": "seconds" if name.startswith("time_") else "unit", "params": params,
                    "version": hashlib.sha256(inspect.getsource(function).encode()).hexdigest(),
                }
    return found


def write(path, value, version):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(dict(value, version=version), file, sort_keys=True)


def measure(function, arguments, attributes):
    number, repeat = int(attributes["number"]), int(attributes["repeat"])

    def once(n):
        start = time.perf_counter()
        for _ in range(n):
            function(*arguments)
        return max(time.perf_counter() - start, 1e-9)

    end = time.perf_counter() + float(attributes["warmup_time"])
    while time.perf_counter() < end:
        once(1)
    if number == 0:
        number = 1
        while once(number) < float(attributes["sample_time"]):
            number *= 2
    return [once(number) / number for _ in range(repeat)], number


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("command", choices=["run"])
    parser.add_argument("--config", required=True)
    parser.add_argument("--machine", required=True)
    parser.add_argument("-E", dest="environment", required=True)
    parser.add_argument("--bench", action="append", required=True)
    parser.add_argument("--set-commit-hash")
    parser.add_argument("--record-samples", action="store_true")
    parser.add_argument("--show-stderr", action="store_true")
    parser.add_argument("-a", dest="attributes", action="append", default=[])
    args = parser.parse_args()
    with open(MachineCollection.get_machine_file_path(), encoding="utf-8") as file:
        machine = json.load(file)[args.machine]
    with open(args.config, encoding="utf-8") as file:
        conf = json.load(file)
    if args.set_commit_hash and not os.path.isdir(os.path.join(conf["repo"], ".git")):
        sys.exit("Cannot determine what kind of DVCS to use for URL " + conf["repo"])
    os.chdir(os.path.dirname(args.config))
    found = discover(conf["benchmark_dir"])
    write(os.path.join(conf["results_dir"], "benchmarks.json"), {name: about for name, (_, about) in found.items()}, 2)
    attributes = dict(a.split("=", 1) for a in args.attributes)
    results, failures = {}, False
    for name, (function, about) in found.items():
        combinations = list(itertools.product(*about["params"]))
        values, samples, numbers, selected = [], [], [], False
        for shown, given in zip(combinations, itertools.product(*getattr(function, "params", []))):
            full = name + "(" + ", ".join(shown) + ")" if shown else name
            value, sample, number = float("nan"), None, None
            if any(re.search(pattern, full) for pattern in args.bench):
                selected = True
                try:
                    sample, number = measure(function, given, attributes)
                    value = sorted(sample)[len(sample) // 2]
                except NotImplementedError:
                    pass
                except Exception:
                    value, failures = None, True
                    print("\n".join("           " + line for line in traceback.format_exc().splitlines()))
            values.append(value)
            samples.append(sample)
            numbers.append(number)
        if selected:
            row = [values, about["params"], about["version"], 0, 0.1, values, values, values, values, numbers, [s and len(s) for s in samples], samples, None]
            row = [None if isinstance(c, list) and i != 1 and all(v is None for v in c) else c for i, c in enumerate(row)]
            while row and row[-1] is None:
                row.pop()
            results[name] = row
    if not results:
        print("No benchmarks selected")
        return 1
    if args.set_commit_hash and args.record_samples:
        path = os.path.join(conf["results_dir"], machine["machine"], "0123abcd-existing-py_usr_bin_python3.json")
        write(path, {"commit_hash": "0123abcd", "env_name": "existing", "date": 0, "params": machine, "python": "3", "requirements": {}, "env_vars": {},
                     "result_columns": COLUMNS, "results": results, "durations": {}}, 2)
    return 2 if failures else 0
