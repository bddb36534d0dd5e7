"""Runs a runner of marts without Spark: python3 without-spark.py run.py OPTIONS. A statement reads one view, which must be there."""
import pathlib
import re
import runpy
import sys
import types
from glob import glob


class AnalysisException(Exception):
    pass


class Frame:
    """Whatever is done with it gives it again, until its end."""

    def __init__(self, views=None, rows=()):
        self.views = views
        self.rows = rows
        self.write = self

    def __getattr__(self, name):
        return lambda *given, **named: self

    def createOrReplaceTempView(self, name):
        self.views.add(name)

    def collect(self):
        return self.rows

    def inputFiles(self):
        return []

    def first(self):
        return types.SimpleNamespace(at="2026-11-02T02:30:00Z")

    def save(self, place):
        pathlib.Path(place).mkdir(parents=True, exist_ok=True)


class Reader:
    def __init__(self, views):
        self.views = views

    def format(self, name):
        return self

    def option(self, name, value):
        return self

    def parquet(self, *files):
        if any(file.endswith("gone.parquet") for file in files):
            raise AnalysisException("[PATH_NOT_FOUND]\nin one of many lines")
        return Frame(self.views)

    def load(self, place):
        return Frame(self.views)

    def text(self, pattern, wholetext):
        found = [types.SimpleNamespace(value=pathlib.Path(file).read_text()) for file in sorted(glob(pattern))]
        if not found:
            raise AnalysisException("[PATH_NOT_FOUND]")
        return Frame(rows=found)


class Session:
    def __init__(self):
        self.views = set()
        self.read = Reader(self.views)
        self.conf = types.SimpleNamespace(set=lambda name, value: None)
        self.sparkContext = types.SimpleNamespace(setLogLevel=lambda level: None, setJobDescription=lambda text: None)

    def newSession(self):
        return Session()

    def sql(self, text, args=None):
        view = re.search(r"from (\w+)", text)[1]
        if view not in self.views:
            raise AnalysisException(f"no view {view}\nin one of many lines")
        if args:
            sys.stdout.write(f"{view} {args['zone']} {args['as_of']} {args['today']}\n")
        return Frame(self.views)


class Builder:
    def config(self, name, value):
        return self

    def getOrCreate(self):
        return Session()


def module(name, **content):
    made = types.ModuleType(name)
    made.__dict__.update(content)
    sys.modules[name] = made


module("pyspark")
module("pyspark.errors", AnalysisException=AnalysisException)
module("pyspark.sql", SparkSession=types.SimpleNamespace(builder=Builder()))
module("pyspark.sql.functions", col=Frame, input_file_name=Frame)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
