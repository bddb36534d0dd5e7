"""Imports muster.py as Airflow does, once for each case of stdin: what it finds, and what it shows as import errors."""

from __future__ import annotations

import json
import logging
import os
import sys

try:
    from airflow.dag_processing.dagbag import DagBag
except ImportError:  # Airflow 3.1
    from airflow.models.dagbag import DagBag  # type: ignore[no-redef, attr-defined]

logging.disable(logging.CRITICAL)
before = dict(os.environ)
ended = []
for case in json.load(sys.stdin):
    os.environ.clear()
    os.environ.update({**before, **case})
    bag = DagBag(sys.argv[1], safe_mode=False)
    dags = {name: [dag.description, dag.doc_md] for name, dag in bag.dags.items()}
    ended.append({"dags": dags, "errors": list(bag.import_errors.values())})
print("\n" + json.dumps(ended))
