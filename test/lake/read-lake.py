"""Reads the tables of a lake as of a snapshot with deltalake and polars; writes each as Parquet, for the test to compare."""
import json
import sys

import polars
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

lake, connection, manifest, out = sys.argv[1:5]
with open(manifest, encoding="utf-8") as file:
    tables = json.load(file)["tables"]
facts = {}
for name, told in tables.items():
    place = f"{lake}/{name.replace('.', '/')}"
    table = DeltaTable(place, version=told["version"])
    rows = table.to_pyarrow_table(filters=[("connection", "=", connection)])
    pq.write_table(rows, f"{out}/{name}.parquet")
    scanned = polars.scan_delta(place, version=told["version"]).filter(polars.col("connection") == connection)
    facts[name] = {
        "columns": [field.name for field in table.schema().fields],
        "comment": table.metadata().description,
        "history": len(table.history()),
        "polars": scanned.select(polars.len()).collect().item(),
        "sums": {
            column: str(pc.sum(rows[column]).as_py() or 0)
            for column in told["sums"]
        },
    }
print(json.dumps(facts))
