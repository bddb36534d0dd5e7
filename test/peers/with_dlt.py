"""Timesheets with dlt, as its documentation on performance advises: with_dlt.py URL DESTINATION one|children FOLDER."""

import os
import sys

url, destination, shape, folder = sys.argv[1:]
is_duckdb = not destination.startswith("postgres")
os.environ |= {
    "RUNTIME__DLTHUB_TELEMETRY": "false",
    "RUNTIME__LOG_LEVEL": "ERROR",
    # Two cores; files of a size at which each process has several.
    "NORMALIZE__WORKERS": "2",
    "LOAD__WORKERS": "2",
    "DATA_WRITER__BUFFER_MAX_ITEMS": "5000",
    "EXTRACT__DATA_WRITER__FILE_MAX_ITEMS": "20000",
    "NORMALIZE__DATA_WRITER__DISABLE_COMPRESSION": "true",
    "LOAD__DELETE_COMPLETED_JOBS": "true",
    "LOAD__TRUNCATE_STAGING_DATASET": "true",
}

import dlt  # noqa: E402
import orjson  # noqa: E402
import requests  # noqa: E402


@dlt.resource(
    name="timesheet",
    primary_key="id",
    write_disposition={"disposition": "merge", "strategy": "upsert"},
    max_table_nesting=0 if shape == "one" else None,
)
def timesheets(changed=dlt.sources.incremental("updatedAt")):
    session = requests.Session()
    session.headers["x-api-key"] = "bench"
    params = {"limit": 200, "page": 1, "sortBy": "updatedAt", "sortOrder": "asc"}
    if changed.start_value:
        params |= {"dateField": "updatedAt", "from": changed.start_value[:10]}
    while True:
        answer = session.get(f"{url}/timesheets", params=params)
        answer.raise_for_status()
        page = orjson.loads(answer.content)["data"]
        if page:
            yield page
        if len(page) < params["limit"]:
            return
        params["page"] += 1


pipeline = dlt.pipeline(
    "peer",
    pipelines_dir=folder,
    dataset_name="held",
    destination=dlt.destinations.duckdb(destination) if is_duckdb else dlt.destinations.postgres(destination),
)
pipeline.run(timesheets(), loader_file_format="parquet" if is_duckdb else "csv")
