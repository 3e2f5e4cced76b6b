"""Tells what an interpreter is, and which versions of modules it would import.

Called with the path of the file to write and the names of the modules.
"""
import json
import os
import platform
import sys
import sysconfig

sys.path[0] = os.getcwd()
facts = {
    "python": platform.python_version(),
    "implementation": platform.python_implementation(),
    "compiler": platform.python_compiler(),
    "cflags": sysconfig.get_config_var("CFLAGS") or "",
    "modules": {},
    "missing": {},
}
for name in sys.argv[2:]:
    try:
        facts["modules"][name] = str(getattr(__import__(name), "__version__", ""))
    except Exception as error:
        facts["missing"][name] = "%s: %s" % (type(error).__name__, error)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(facts, file)
