"""Stands in for pyperf where that is not installed.

It keeps to what the adapter relies on, as pyperf documents it: the options, one
process per run, workers that start the same program again, an environment that is
withheld from them without --copy-env, and format 1.0 of the result file.
"""
import argparse
import json
import os
import subprocess
import sys
import time

__version__ = "0.0.0"


class Runner:
    def __init__(self, metadata=None):
        self.metadata = dict(metadata or {})
        parser = argparse.ArgumentParser()
        for name, kind, default in (
            ("--processes", int, 20), ("--values", int, 3), ("--warmups", int, 1), ("--loops", int, 0), ("--min-time", float, 0.1),
            ("--output", str, None), ("--pipe", int, None), ("--worker-task", int, 0),
        ):
            parser.add_argument(name, type=kind, default=default)
        for name in ("--copy-env", "--worker", "--calibrate-loops"):
            parser.add_argument(name, action="store_true")
        self.args = parser.parse_args()
        if self.args.output and os.path.exists(self.args.output):
            sys.exit("ERROR: The JSON file %r already exists" % self.args.output)

    def bench_func(self, name, function):
        if self.args.worker:
            self.work(name, function)
        else:
            self.manage(name)

    def work(self, name, function):
        args, warmups, values = self.args, [], []

        def once(loops):
            start = time.perf_counter()
            for _ in range(loops):
                function()
            return max(time.perf_counter() - start, 1e-9)

        if args.calibrate_loops:
            loops = 1
            while True:
                taken = once(loops)
                warmups.append([loops, taken / loops])
                if taken >= args.min_time:
                    break
                loops *= 2
            self.metadata["calibrate_loops"] = loops
        else:
            loops = args.loops
            warmups = [[loops, once(loops) / loops] for _ in range(args.warmups)]
            values = [once(loops) / loops for _ in range(args.values)]
        metadata = dict(self.metadata, name=name, unit="second", loops=loops, perf_version=__version__,
                        python_version="%d.%d.%d" % sys.version_info[:3], load_avg_1min=0.5, duration=once(1))
        run = {"metadata": metadata}
        if warmups:
            run["warmups"] = warmups
        if values:
            run["values"] = values
        with os.fdopen(args.pipe, "w") as pipe:
            json.dump(run, pipe)

    def spawn(self, *options):
        env = os.environ if self.args.copy_env else {k: os.environ[k] for k in ("PATH", "HOME") if k in os.environ}
        source, sink = os.pipe()
        command = [sys.executable, sys.argv[0], "--worker", "--pipe", str(sink), "--values", str(self.args.values),
                   "--warmups", str(self.args.warmups), "--min-time", str(self.args.min_time), *options]
        worker = subprocess.Popen(command, env=env, pass_fds=[sink])
        os.close(sink)
        with os.fdopen(source) as pipe:
            text = pipe.read()
        if worker.wait():
            raise RuntimeError("%s failed with exit code %s" % (command[0], worker.returncode))
        return json.loads(text)

    def manage(self, name):
        runs, loops = [], self.args.loops
        if not loops:
            runs.append(self.spawn("--calibrate-loops"))
            loops = runs[0]["metadata"]["calibrate_loops"]
        for _ in range(self.args.processes):
            runs.append(self.spawn("--loops", str(loops)))
        shared = {k: v for k, v in runs[0]["metadata"].items() if all(r["metadata"].get(k) == v for r in runs)}
        for run in runs:
            run["metadata"] = {k: v for k, v in run["metadata"].items() if k not in shared}
        if self.args.output:
            with open(self.args.output, "x") as file:
                json.dump({"version": "1.0", "metadata": shared, "benchmarks": [{"runs": runs}]}, file, sort_keys=True, separators=(",", ":"))
                file.write("\n")
