"""Lists the node ids of tests that use the benchmark fixture.

Called with the path of the file to write, then the arguments of pytest.
"""
import json
import os
import sys

sys.path[0] = os.getcwd()
import pytest  # noqa: E402


class Listing:
    cases = None

    def pytest_collection_finish(self, session):
        self.cases = [
            item.nodeid
            for item in session.items
            if {"benchmark", "benchmark_weave"} & set(getattr(item, "fixturenames", ()))
        ]


listing = Listing()
status = int(pytest.main(sys.argv[2:], plugins=[listing]))
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({"cases": listing.cases, "status": status}, file)
sys.exit(status)
