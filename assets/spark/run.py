"""Computes the marts of one or more connections of a lake and writes each as a Delta table.

spark-submit --packages io.delta:delta-spark_2.12:3.3.2 run.py --lake s3a://company-data/muster --out s3a://company-data/marts
"""
import argparse
import json
import pathlib
import sys
import time
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, input_file_name, lit

here = pathlib.Path(__file__).resolve().parent
options = argparse.ArgumentParser()
options.add_argument("--lake", required=True, help="address of the lake")
options.add_argument("--out", required=True, help="where mart/NAME is written; never the lake itself")
options.add_argument("--connection", action="append", help="one connection; may be repeated; all without it")
options.add_argument("--today", help="YYYY-MM-DD instead of the current day in the reporting zone")
options.add_argument("--mart", action="append", help="one mart; may be repeated; all without it")
given = options.parse_args()
plan = json.loads((here / "marts.json").read_text(encoding="utf-8"))
unknown = sorted(set(given.mart or []) - {mart["name"] for mart in plan["marts"]})
if unknown:
    options.error(f"marts.json has no mart {', '.join(unknown)}")

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
for name, value in settings.items():
    spark.conf.set(name, value)
spark.sparkContext.setLogLevel("ERROR")

files = spark.read.text(f"{given.lake}/_muster/snapshots/*/*.json", wholetext=True)
snapshots = {}
for row in files.select(input_file_name().alias("file"), "value").orderBy("file").collect():
    snapshot = json.loads(row.value)
    snapshots[snapshot["connection"]] = snapshot  # The last run of a connection is its last file.


def view(name, place, connection, version=None):
    reader = spark.read.format("delta")
    reader = reader if version is None else reader.option("versionAsOf", version)
    rows = reader.load(place).where(col("connection") == connection)
    rows.drop("connection").createOrReplaceTempView(name.replace(".", "_"))


def write(frame, place, connection):
    rows = frame.select(lit(connection).alias("connection"), "*")
    only = rows.write.format("delta").mode("overwrite").option("replaceWhere", f"connection = '{connection}'")
    only.option("mergeSchema", "true").partitionBy("connection").save(place)


failed = 0
for connection in given.connection or sorted(snapshots):
    if connection not in snapshots or connection not in plan["connections"]:
        print(f"{connection}: not in the lake, or not in marts.json", file=sys.stderr)
        failed += 1
        continue
    tables = snapshots[connection]["tables"]
    inputs = dict(plan["connections"][connection])
    missing = set()
    for name in plan["reads"]:
        if name in tables:
            view(name, f"{given.lake}/{name.replace('.', '/')}", connection, tables[name]["version"])
        else:
            missing.add(name)  # For the marts that read it.
    built = None if "mart.data_health" in missing else spark.sql("select date_format(max(as_of), \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\") as at from mart_data_health").first().at
    inputs["as_of"] = built
    inputs["today"] = given.today or datetime.now(timezone.utc).astimezone(ZoneInfo(inputs["zone"])).date().isoformat()
    for mart in plan["marts"]:
        if given.mart and mart["name"] not in given.mart:
            continue
        started = time.monotonic()
        name, place = f"mart.{mart['name']}", f"{given.out}/mart/{mart['name']}"
        try:
            lacking = sorted(missing.intersection(mart["reads"]))
            if lacking:
                raise ValueError(f"the lake has no {', '.join(lacking)}")
            text = (here / "sql" / f"{mart['name']}.sql").read_text(encoding="utf-8")
            write(spark.sql(text, args=inputs), place, connection)
            if any(name in other["reads"] for other in plan["marts"]):
                view(name, place, connection)
            print(f"{connection} {name}: written in {time.monotonic() - started:.1f} s", flush=True)
        except Exception as error:  # The others are still worth writing; the exit status tells.
            failed += 1
            missing.add(name)  # For the marts that read it.
            print(f"{connection} {name}: {str(error).strip().splitlines()[0]}", file=sys.stderr, flush=True)
sys.exit(1 if failed else 0)
