"""Runs the DAGs of Muster on Airflow 3.1 or later: copy or link this file into the DAG folder.

It asks `muster dag list --json` for the DAGs and the connections, and makes one DAG for each pair: the same tasks, in
the same order. The program is found through these variables of the scheduler and of the workers:

    MUSTER_COMMAND    how to start the program; `muster` unless set
    MUSTER_HOME       the folder of its settings (config/muster.yaml) and of dags/; the working folder unless set
    MUSTER_DASHBOARD  address of a dashboard, to which the DAGs link

A DuckDB file has one writer: its tasks share a pool of one slot. Create the pools once, and after a new connection:

    python muster.py > pools.json && airflow pools import pools.json
"""

from __future__ import annotations

import inspect
import json
import os
import shlex
import subprocess
import sys
import threading
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

# What the exit codes of the program mean.
LATER = 75
HOPELESS = {2: "wrong usage", 3: "a check failed", 78: "the settings are wrong"}

# Failures that can pass, such as a lost network; a lock is waited for by the program itself. How long a retry waits is
# a setting of Airflow, [core] default_task_retry_delay: five minutes unless set.
RETRIES = 2
LOCK_WAIT = "10m"


def command(*words: str) -> list[str]:
    return [*shlex.split(os.environ.get("MUSTER_COMMAND", "muster")), *words]


def home() -> str:
    return os.environ.get("MUSTER_HOME", os.getcwd())


def read_dags() -> list[dict[str, Any]]:
    """The DAGs with their tasks and connections; what is wrong is one line, which Airflow shows as an import error."""
    try:
        listed = subprocess.run(
            command("dag", "list", "--json"), cwd=home(), capture_output=True, text=True, timeout=120, check=False
        )
    except OSError as error:
        raise RuntimeError(f"{command()[0]} does not start ({error}): set MUSTER_COMMAND and MUSTER_HOME") from None
    if not listed.stdout.strip():
        raise RuntimeError(last_line(listed.stderr) or f"muster dag list ended with {listed.returncode}")
    dags = cast("list[dict[str, Any]]", json.loads(listed.stdout))
    for dag in dags:
        if "problem" in dag:
            raise RuntimeError(dag["problem"])
    return dags


def last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def pool_of(connection: dict[str, Any]) -> str | None:
    """PostgreSQL takes several writers, and needs no pool."""
    return f"muster_{connection['name']}" if connection["writers"] == 1 else None


def pools(dags: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    connections = [connection for dag in dags for connection in dag["connections"]]
    names = {pool_of(one): one["name"] for one in connections}
    return {
        pool: {"slots": 1, "description": f"The DuckDB file of {name} has one writer.", "include_deferred": False}
        for pool, name in names.items()
        if pool is not None
    }


if __name__ == "__main__":
    print(json.dumps(pools(read_dags()), indent=2))
    sys.exit(0)

import airflow  # noqa: E402

OLDEST = (3, 1)
if tuple(int(part) for part in airflow.__version__.split(".")[:2]) < OLDEST:
    raise ImportError(f"muster.py needs Airflow 3.1 or later, and this is {airflow.__version__}: upgrade Airflow")

from airflow.providers.standard.operators.empty import EmptyOperator  # noqa: E402
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator  # noqa: E402
from airflow.sdk import DAG, Asset, AssetAlias, get_current_context, task  # noqa: E402
from airflow.sdk.exceptions import AirflowFailException, DagRunTriggerException  # noqa: E402
from airflow.task.trigger_rule import TriggerRule  # noqa: E402


class RunFailed(RuntimeError):
    """A failure that may pass: the task is tried again."""


def execute(words: Sequence[str], given: str | None = None) -> tuple[int, dict[str, Any], str]:
    """Exit code, figures and last line of one command; what it tells people goes to the log of the task as it comes."""
    process = subprocess.Popen(
        command(*words),
        cwd=home(),
        stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    told: list[str] = []

    def follow() -> None:
        for line in cast("Any", process.stderr):
            told.append(line.rstrip())
            print(line.rstrip(), flush=True)

    follower = threading.Thread(target=follow)
    follower.start()
    try:
        if given is not None:
            cast("Any", process.stdin).write(given)
            cast("Any", process.stdin).close()
        output = cast("Any", process.stdout).read()
        code = process.wait()
    finally:
        # Airflow ends a task by an exception: the program is told to stop, and keeps what it has read.
        if process.poll() is None:
            process.terminate()
            process.wait(timeout=120)
        follower.join()
    figures = json.loads(output) if output.strip().startswith(("{", "[")) else {}
    reason = last_line("\n".join(told)).removeprefix("muster: ")
    return code, figures if isinstance(figures, dict) else {"rows": len(figures)}, reason


KEPT = ("runId", "requests", "remainingToday", "milliseconds", "asOf", "unexplained", "failed", "file", "published")


def summary(code: int, figures: dict[str, Any], reason: str) -> dict[str, Any]:
    """What other tasks and people read: scalars only, as an XCom is no place for tables."""
    kept: dict[str, Any] = {
        name: figures[name] for name in KEPT if isinstance(figures.get(name), (str, int, float, bool))
    }
    marts = [mart["name"] for mart in figures.get("marts", []) if mart.get("state") == "built"]
    resources = figures.get("resources", [])
    changed = sum(
        one.get("rows_inserted", 0) + one.get("rows_changed", 0) + one.get("rows_removed", 0) for one in resources
    )
    return {
        **kept,
        **({"marts": marts} if marts else {}),
        **({"changedRows": changed} if resources else {}),
        "exitCode": code,
        "partial": code == LATER,
        "reason": reason if code else "",
    }


def run_task(words: Sequence[str], connection: str) -> dict[str, Any]:
    context = get_current_context()
    instance = cast("Any", context["ti"])
    begun = now()
    code, figures, reason = execute([*words, "--connection", connection, "--json", "--wait", LOCK_WAIT])
    result = {**summary(code, figures, reason), "startedAt": begun, "finishedAt": now()}
    print(f"muster run {result.get('runId', 'without an id')} of {connection}: exit code {code}", flush=True)
    changed = [Asset(f"muster://{connection}/mart/{name}") for name in result.get("marts", [])]
    for asset in changed:
        cast("Any", context["outlet_events"])[AssetAlias(alias_of(connection))].add(asset)
    if code in (0, LATER):
        return result
    instance.xcom_push(key="failure", value=result)
    if code in HOPELESS:
        raise AirflowFailException(f"{HOPELESS[code]}: {reason}")
    raise RunFailed(reason or f"muster {' '.join(words)} ended with exit code {code}")


def now() -> str:
    return datetime.now(timezone.utc).isoformat()


def alias_of(connection: str) -> str:
    return f"muster-{connection}-marts"


def at_reset() -> datetime:
    """The day of a key ends at midnight UTC; a few minutes later its new budget is there for certain."""
    tomorrow = datetime.now(timezone.utc).date() + timedelta(days=1)
    return datetime(tomorrow.year, tomorrow.month, tomorrow.day, 0, 5, tzinfo=timezone.utc)


class GoOn(TriggerDagRunOperator):
    """Triggers the next run when the budget is there again; the moment is known when this one ends."""

    def execute(self, context: Any) -> None:
        if "run_after" not in inspect.signature(DagRunTriggerException).parameters:
            # Without it the run would begin at once, and spend nothing again and again.
            print("this Airflow starts no run later: the next one of the schedule goes on", flush=True)
            return
        self.run_after = at_reset()
        super().execute(context)


class Night:
    """The Airflow DAG of one DAG of Muster and one connection."""

    def __init__(self, dag: dict[str, Any], connection: dict[str, Any]) -> None:
        self.dag = dag
        self.connection = connection["name"]
        self.is_shared = connection["writers"] != 1
        self.pool = pool_of(connection)
        self.dag_id = f"muster_{self.connection}_{dag['name']}"
        # For a task of Muster the tasks of Airflow that others wait for.
        self.ends: dict[str, list[Any]] = {}

    def build(self) -> DAG:
        dashboard = os.environ.get("MUSTER_DASHBOARD")
        link = f"\n\n[Dashboard]({dashboard})" if dashboard else ""
        with DAG(
            dag_id=self.dag_id,
            description=self.dag["description"],
            doc_md=f"{self.dag['description']} Connection `{self.connection}`.{link}",
            schedule=self.dag["schedule"],
            start_date=datetime(2025, 1, 1, tzinfo=timezone.utc),
            catchup=False,
            max_active_runs=1,
            dagrun_timeout=timedelta(hours=23),
            tags=["muster", self.connection],
        ) as airflow_dag:
            for one in self.dag["tasks"]:
                self.add(one)
            self.conclude()
        return airflow_dag

    def options(self, one: dict[str, Any], name: str) -> dict[str, Any]:
        writes = one["writes"] and self.pool is not None
        is_build = one["run"] == "build"
        return {
            "task_id": name,
            "retries": RETRIES,
            **({"pool": self.pool} if writes else {}),
            **({"outlets": [AssetAlias(alias_of(self.connection))]} if is_build else {}),
        }

    def add(self, one: dict[str, Any]) -> None:
        begins = self.mapped_sync(one) if self.is_shared and one.get("groups") else self.plain(one)
        for need in one["needs"]:
            for end in self.ends[need]:
                end >> begins
        if one["after"]:
            # However those ended: Airflow has one rule for all tasks that another waits for.
            gate = EmptyOperator(
                task_id=f"after_{'_'.join(one['after'])}_{one['id']}", trigger_rule=TriggerRule.ALL_DONE
            )
            for earlier in one["after"]:
                for end in self.ends[earlier]:
                    end >> gate
            gate >> begins

    def plain(self, one: dict[str, Any]) -> Any:
        words, connection = [*one["run"].split(" "), *one["args"]], self.connection

        @task(**self.options(one, one["id"]))
        def run() -> dict[str, Any]:
            return run_task(words, connection)

        begins = run()
        self.ends[one["id"]] = [begins]
        return begins

    def mapped_sync(self, one: dict[str, Any]) -> Any:
        """Lists side by side, then the records that they name; one list that fails stops neither."""
        connection, args = self.connection, one["args"]

        @task(**self.options(one, one["id"]))
        def sync(resources: list[str]) -> dict[str, Any]:
            return run_task(["sync", *resources, *args], connection)

        @task(trigger_rule=TriggerRule.ALL_DONE, **self.options(one, f"{one['id']}_by_id"))
        def by_id(resources: list[str]) -> dict[str, Any]:
            return run_task(["sync", *resources, *args], connection)

        lists = sync.expand(resources=one["groups"]["lists"])
        records = by_id(one["groups"]["byId"])
        lists >> records
        self.ends[one["id"]] = [lists, records]
        return lists

    def conclude(self) -> None:
        """The run fails with the reasons of its tasks; a partial one goes on when the budget is there again."""
        pool: dict[str, Any] = {"pool": self.pool} if self.pool is not None else {}

        @task.short_circuit(task_id="partial", trigger_rule=TriggerRule.ALL_DONE, retries=0, **pool)
        def partial() -> bool:
            instance = cast("Any", get_current_context()["ti"])
            outcomes = {one["id"]: self.outcome(instance, one["id"]) for one in self.dag["tasks"]}
            self.record(outcomes)
            reasons = [
                f"{name}: {one['error'] if one else 'did not run to its end'}"
                for name, one in outcomes.items()
                if one is None or one["exitCode"] not in (0, LATER)
            ]
            if reasons:
                raise AirflowFailException("; ".join(reasons))
            is_partial = any(one is not None and one["exitCode"] == LATER for one in outcomes.values())
            print("partial: goes on when the budget is there again" if is_partial else "whole", flush=True)
            return is_partial

        last = partial()
        for ends in self.ends.values():
            for end in ends:
                end >> last
        last >> GoOn(task_id="go_on", trigger_dag_id=self.dag_id, retries=0)

    def outcome(self, instance: Any, name: str) -> dict[str, Any] | None:
        """How a task of Muster ended: the worst of the tasks of Airflow that it is; None where one told nothing."""
        names = [end.operator.task_id for end in self.ends[name]]
        failures = [one for task_id in names for one in pulled(instance, task_id, "failure")]
        results = [one for task_id in names for one in pulled(instance, task_id)]
        if not failures and len(results) < self.parts(name):
            return None
        told = failures or [one for one in results if one["exitCode"] == LATER] or results
        return {
            "task": name,
            "exitCode": told[0]["exitCode"],
            "error": "; ".join(one["reason"] for one in told if one["reason"]),
            "startedAt": min(one["startedAt"] for one in [*failures, *results]),
            "finishedAt": max(one["finishedAt"] for one in [*failures, *results]),
        }

    def parts(self, name: str) -> int:
        """A task for each list, and one for the records that are read by id."""
        groups = next(one.get("groups") for one in self.dag["tasks"] if one["id"] == name)
        return len(groups["lists"]) + 1 if self.is_shared and groups else 1

    def record(self, outcomes: dict[str, dict[str, Any] | None]) -> None:
        """For `muster status`, the metrics and the messages about nights; a failure to record fails no night."""
        told = json.dumps({"dag": self.dag["name"], "tasks": [one for one in outcomes.values() if one is not None]})
        words = ["dag", "record", self.dag["name"], "-", "--connection", self.connection, "--json"]
        code, _, reason = execute([*words, "--wait", LOCK_WAIT], told)
        if code:
            print(f"the night could not be recorded: {reason}", flush=True)


def pulled(instance: Any, name: str, key: str = "return_value") -> list[dict[str, Any]]:
    """What a task left, or each task that it was mapped to."""
    found = instance.xcom_pull(task_ids=name, key=key)
    if found is None:
        return []
    return [found] if isinstance(found, dict) else [one for one in found if one is not None]


for listed_dag in read_dags():
    for listed_connection in listed_dag["connections"]:
        night = Night(listed_dag, listed_connection)
        globals()[night.dag_id] = night.build()
