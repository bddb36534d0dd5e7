"""Reads the tables of a lake as of a snapshot with Spark and delta-spark; writes each as Parquet, for the test to compare."""
import json
import sys

from pyspark.sql import SparkSession

jars, lake, connection, manifest, out = sys.argv[1:6]
settings = {
    "spark.jars": jars,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.shuffle.partitions": "1",
    # The log of a table has few entries: fifty tasks to read it would take most of the time.
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.ui.enabled": "false",
}
builder = SparkSession.builder.master("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
with open(manifest, encoding="utf-8") as file:
    tables = json.load(file)["tables"]
facts = {}
for name, table in tables.items():
    place = f"{lake}/{name.replace('.', '/')}"
    frame = spark.read.format("delta").option("versionAsOf", table["version"]).load(place)
    rows = frame.where(frame.connection == connection)
    rows.coalesce(1).write.parquet(f"{out}/{name}.parquet")
    facts[name] = {"columns": [f"{field.name} {field.dataType.simpleString()}" for field in frame.schema.fields]}
print(json.dumps(facts))
