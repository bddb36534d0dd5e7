"""Computes the marts of one or more connections of a lake and writes each as a Delta table.

spark-submit --packages io.delta:delta-spark_2.12:3.3.2 run.py --lake s3a://company-data/muster --out s3a://company-data/marts
"""
import argparse
import json
import os
import pathlib
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.functions import col, input_file_name

here = pathlib.Path(__file__).resolve().parent
plan = json.loads((here / "marts.json").read_text(encoding="utf-8"))
options = argparse.ArgumentParser()
options.add_argument("--lake", required=True, help="address of the lake")
options.add_argument("--out", required=True, help="where mart/NAME is written; never the lake itself")
options.add_argument("--connection", action="append", help="one connection; may be repeated; all without it")
options.add_argument("--today", help="YYYY-MM-DD instead of the current day in the reporting zone")
options.add_argument("--mart", action="append", help="one mart, after those it reads; may be repeated; all without it")
options.add_argument("--threads", type=int, default=os.cpu_count(), help="how many marts are planned at once")
given = options.parse_args()
unknown = sorted(set(given.mart or []) - plan["marts"].keys())
if unknown:
    options.error(f"marts.json has no mart {', '.join(unknown)}")
wanted = {one for name in given.mart or plan["marts"] for one in plan["marts"][name]["needs"]}
reads = {"mart.data_health", *(table for mart in wanted for table in plan["marts"][mart]["reads"])}

settings = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
spark = (
    SparkSession.builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def say(line, stream):
    stream.write(f"{line}\n")  # At once, as others may speak at the same time.
    stream.flush()


snapshots = {}
try:
    files = spark.read.text(f"{given.lake}/_muster/snapshots/*/*.json", wholetext=True)
    for row in files.select(input_file_name().alias("file"), "value").orderBy("file").collect():
        snapshot = json.loads(row.value)
        snapshots[snapshot["connection"]] = snapshot  # The last run of a connection is its last file.
except AnalysisException:
    sys.exit(f"{given.lake}: no connection is published here; run muster lake publish")


class Connection:
    """Its rows alone, as of its last snapshot. Views and settings are of its own session."""

    def __init__(self, name):
        self.name = name
        self.tables = snapshots[name]["tables"]
        self.session = spark.newSession()
        for setting, value in settings.items():
            self.session.conf.set(setting, value)

    def delta(self, place, version=None):
        reader = self.session.read.format("delta")
        reader = reader if version is None else reader.option("versionAsOf", version)
        return reader.load(place).where(col("connection") == self.name).drop("connection")

    def parquet(self, files):
        """Delta would look for the files in its log again, for each time that a statement names the table."""
        return self.session.read.parquet(*files)

    def view(self, name, rows):
        rows.createOrReplaceTempView(name.replace(".", "_"))

    def load(self, name):
        table = self.tables.get(name)
        if table:
            place = f"{given.lake}/{name.replace('.', '/')}"
            files = [f"{place}/{file}" for file in table["files"]]
            self.view(name, self.parquet(files) if files else self.delta(place, table["version"]).limit(0))
        return table is not None

    def inputs(self, health):
        found = dict(plan["connections"][self.name])
        sql = "select date_format(max(as_of), \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\") as at from mart_data_health"
        found["as_of"] = self.session.sql(sql).first().at if health.result() else None
        now = datetime.now(timezone.utc).astimezone(ZoneInfo(found["zone"]))
        found["today"] = given.today or now.date().isoformat()
        return found

    def compute(self, name, read, inputs):
        """`read`: what the mart reads, and whether it is there."""
        started = time.monotonic()
        spark.sparkContext.setJobDescription(f"{self.name} mart.{name}")  # Spark's pages say it of each stage.
        try:
            lacking = [table for table, one in read.items() if not one.result()]
            if lacking:
                raise ValueError(f"not computed without {', '.join(lacking)}")
            made = (here / "sql" / f"{name}.sql").read_text(encoding="utf-8")
            text = f"select '{self.name}' as connection, made.* from (\n{made}\n) as made"
            place = f"{given.out}/mart/{name}"
            self.write(self.session.sql(text, args=inputs.result()), name, place)
            if plan["marts"][name]["isRead"]:
                files = self.delta(place).inputFiles()
                self.view(f"mart.{name}", self.parquet(files) if files else self.delta(place))
        except Exception as error:  # The others are still worth writing; the exit status tells.
            say(f"{self.name} mart.{name}: {str(error).strip().splitlines()[0]}", sys.stderr)
            return False
        say(f"{self.name} mart.{name}: written in {time.monotonic() - started:.1f} s", sys.stdout)
        return True

    def write(self, rows, name, place):
        only = rows.write.format("delta").mode("overwrite")
        only = only.option("replaceWhere", f"connection = '{self.name}'").option("mergeSchema", "true")
        with writing[name]:
            only.partitionBy("connection").save(place)


writing = {name: threading.Lock() for name in plan["marts"]}  # Two connections cannot both create a table.


def begin(name, pool):
    """What will tell of each table and mart whether it is there. A mart waits for earlier ones only."""
    one = Connection(name)
    tables = {table: pool.submit(one.load, table) for table in plan["lake"] if table in reads}
    inputs = pool.submit(one.inputs, tables["mart.data_health"])
    for mart, step in plan["marts"].items():
        if mart in wanted:
            read = {table: tables[table] for table in step["reads"]}
            tables[f"mart.{mart}"] = pool.submit(one.compute, mart, read, inputs)
    return [tables[f"mart.{mart}"] for mart in plan["marts"] if mart in wanted]


asked = given.connection or sorted(snapshots)
known = [name for name in asked if name in snapshots and name in plan["connections"]]
for name in sorted(set(asked) - set(known)):
    say(f"{name}: not in the lake, or not in marts.json", sys.stderr)
with ThreadPoolExecutor(given.threads) as pool:
    marts = [mart for name in known for mart in begin(name, pool)]
    written = [mart.result() for mart in marts]
sys.exit(0 if all(written) and len(known) == len(asked) else 1)
