"""Timesheets as a script of fifty lines does it: one table, what is nested as JSON. by_hand.py URL DESTINATION."""

import csv
import io
import sys

import orjson
import requests

url, destination = sys.argv[1:]
columns = [
    *("id", "reference", "status", "worker", "company", "project", "site", "agency", "assignment", "payType"),
    *("rateType", "start", "end", "weekEnding", "approvedDate", "createdAt", "updatedAt", "version", "netHours"),
    *("approvalRequestedBy", "approvedBy", "timesheetApprovers", "rates", "values", "pieceRateEntries", "timelogs"),
    "submissionAnswers",
]
quoted = [f'"{name}" text' for name in columns]
table = f"create table if not exists timesheet ({', '.join(quoted)}, primary key (id))"
pages_at_once = 25


def text(value):
    return orjson.dumps(value).decode() if isinstance(value, (dict, list)) else value


def pages(since):
    session = requests.Session()
    session.headers["x-api-key"] = "bench"
    params = {"limit": 200, "page": 1, "sortBy": "updatedAt", "sortOrder": "asc"}
    if since:
        params |= {"dateField": "updatedAt", "from": since[:10]}
    while True:
        answer = session.get(f"{url}/timesheets", params=params)
        answer.raise_for_status()
        records = orjson.loads(answer.content)["data"]
        yield [[text(record.get(name)) for name in columns] for record in records]
        if len(records) < params["limit"]:
            return
        params["page"] += 1


def batches(since):
    batch = []
    for number, page in enumerate(pages(since), 1):
        batch += page
        if number % pages_at_once == 0:
            yield batch
            batch = []
    if batch:
        yield batch


def into_duckdb():
    import duckdb
    import pyarrow

    with duckdb.connect(destination) as connection:
        connection.execute(table)
        (since,) = connection.execute('select max("updatedAt") from timesheet').fetchone()
        for batch in batches(since):
            values = zip(*batch)
            arrived = pyarrow.table({name: pyarrow.array(map(string, one)) for name, one in zip(columns, values)})
            connection.execute("insert or replace into timesheet select * from arrived")


def string(value):
    return None if value is None else str(value)


def into_postgres():
    import psycopg2

    changes = ", ".join(f'"{name}" = excluded."{name}"' for name in columns[1:])
    with psycopg2.connect(destination) as connection, connection.cursor() as cursor:
        cursor.execute(table)
        cursor.execute('select max("updatedAt") from timesheet')
        (since,) = cursor.fetchone()
        cursor.execute("create temp table arrived (like timesheet)")
        for batch in batches(since):
            lines = io.StringIO()
            csv.writer(lines).writerows(batch)
            lines.seek(0)
            cursor.execute("truncate arrived")
            cursor.copy_expert("copy arrived from stdin (format csv)", lines)
            cursor.execute(f"insert into timesheet select * from arrived on conflict (id) do update set {changes}")


into_postgres() if destination.startswith("postgres") else into_duckdb()
