"""Runs asv on the benchmarks of a tree. Generated; kept with the results.

Nothing is read or written but beside this file: the configuration, the description
of the machine, which asv would ask for, and the results.
"""
import json
import os
import sys

folder = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(folder, "settings.json"), encoding="utf-8") as file:
    settings = json.load(file)


def keep(name, value):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, sort_keys=True)
    return path


# The tool wants the root of a repository, which the tree may be a part of.
repository = settings["root"]
while not os.path.exists(os.path.join(repository, ".git")) and os.path.dirname(repository) != repository:
    repository = os.path.dirname(repository)
if not os.path.exists(os.path.join(repository, ".git")):
    repository = settings["root"]

config = keep("asv.conf.json", {
    "version": 1, "project": "subject", "repo": repository, "branches": ["HEAD"], "benchmark_dir": settings["suite"],
    "environment_type": "existing", "env_dir": os.path.join(folder, "env"), "results_dir": os.path.join(folder, "results"),
    "html_dir": os.path.join(folder, "html"),
})
machine = dict.fromkeys(("machine", "os", "arch", "cpu", "num_cpu", "ram"), "writ")
machines = keep("machines.json", {"writ": machine, "version": 1})

sys.path[0] = os.getcwd()
import asv.machine  # noqa: E402
from asv.main import main  # noqa: E402

asv.machine.MachineCollection.get_machine_file_path = staticmethod(lambda: machines)
sys.argv = ["asv", "run", "--config", config, "--machine", "writ", "-E", "existing:" + sys.executable] + settings["arguments"]
try:
    status = main()
except SystemExit as exit:
    status = exit.code
if settings["mode"] == "list" and os.path.exists(os.path.join(folder, "results", "benchmarks.json")):
    status = 0  # some versions end badly when they have discovered and nothing is to be run
sys.exit(status)
