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

import hashlib
import inspect
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# What the exit codes of the program mean.
LATER = 75
HOPELESS = {2: "wrong usage", 3: "a check failed", 78: "the settings are wrong"}

# Failures that can pass, such as a lost network; a lock is waited for by the program itself. How long a retry waits is
# a setting of Airflow, [core] default_task_retry_delay: five minutes unless set.
RETRIES = 2

# Airflow reads this file every 30 seconds and before each task, and the program needs 1.5 s of a processor to list its
# DAGs. Its answer counts until a file changes, and no longer than this: settings may name variables.
CACHE_SECONDS = 300


class Mistake(RuntimeError):
    """A mistake that the operator must fix, in one line."""


def command(*words: str) -> list[str]:
    given = os.environ.get("MUSTER_COMMAND", "muster")
    try:
        program = shlex.split(given)
    except ValueError as error:
        raise Mistake(f"MUSTER_COMMAND is no command ({error}): {given}") from None
    if not program:
        raise Mistake("MUSTER_COMMAND is empty: set it to the command that starts muster, or unset it")
    return [*program, *words]


def home() -> str:
    return os.environ.get("MUSTER_HOME") or os.getcwd()


def read_dags() -> list[dict[str, Any]]:
    """The DAGs with their tasks and connections, asked for again when settings, DAGs or the program have changed."""
    stamp = stamp_of_files()
    cached = cached_answer(stamp)
    if cached is None:
        cached = ask_dags()
        cache(stamp, cached)
    return cached


def ask_dags() -> list[dict[str, Any]]:
    """Raises a Mistake, which Airflow shows as an import error."""
    words = command("dag", "list", "--json")
    try:
        listed = subprocess.run(words, cwd=home(), capture_output=True, text=True, timeout=120, check=False)
    except OSError as error:
        raise does_not_start(error) from None
    except subprocess.TimeoutExpired:
        raise Mistake(f"{shlex.join(words)} did not end within two minutes") from None
    try:
        dags = cast("list[dict[str, Any]]", json.loads(listed.stdout))
        for dag in dags:
            if "problem" in dag:
                raise Mistake(dag["problem"])
        if not any(dag["connections"] for dag in dags):
            raise Mistake(f"{home()} has no settings with a connection: set MUSTER_HOME, or run muster init there")
    except (ValueError, TypeError):
        stated = last_line(listed.stderr).removeprefix("muster: ")
        raise Mistake(stated or f"{shlex.join(words)} lists no DAGs: it ended with {listed.returncode}") from None
    return dags


def does_not_start(error: OSError) -> Mistake:
    """The program may be missing, or the folder that it runs in."""
    if not os.path.isdir(home()):
        return Mistake(f"there is no folder {home()}: set MUSTER_HOME to the folder with config/muster.yaml")
    return Mistake(f"{command()[0]} does not start ({error.strerror}): set MUSTER_COMMAND to what starts muster")


def last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def files_that_count() -> Iterator[str]:
    """Settings and DAGs, the program, and whatever its command names, such as a file after --config."""
    program, *words = command()
    yield shutil.which(program) or program
    for place in ("config/muster.yaml", "config/muster.d", "dags", *words):
        path = os.path.join(home(), place)
        yield path
        if os.path.isdir(path):
            yield from (entry.path for entry in sorted(os.scandir(path), key=lambda entry: entry.name))


def stamp_of_files() -> str:
    """Changes when one of them does; a hash, as the variables hold keys."""
    variables = {name: value for name, value in sorted(os.environ.items()) if name.startswith("MUSTER_")}
    seen: list[Any] = [home(), variables]
    for path in files_that_count():
        try:
            found = os.stat(path)
        except OSError:
            seen.append([path])
        else:
            seen.append([path, found.st_mtime_ns, found.st_size, found.st_ino])
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()


def place_of_answer() -> str:
    folder = os.environ.get("AIRFLOW_HOME") or os.path.expanduser("~/airflow")
    whose = hashlib.sha256(json.dumps([command(), home()]).encode()).hexdigest()[:12]
    return os.path.join(folder, f"muster-dags-{whose}.json")


def cached_answer(stamp: str) -> list[dict[str, Any]] | None:
    try:
        with open(place_of_answer(), encoding="utf-8") as file:
            cached = json.load(file)
        is_fresh = cached["stamp"] == stamp and 0 <= time.time() - cached["at"] < CACHE_SECONDS
        return cast("list[dict[str, Any]]", cached["dags"]) if is_fresh else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def cache(stamp: str, dags: list[dict[str, Any]]) -> None:
    """Written beside and moved, as another process may be reading it. A folder that takes no files costs time only."""
    place = place_of_answer()
    beside = f"{place}.{os.getpid()}"
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump({"stamp": stamp, "at": time.time(), "dags": dags}, file)
        os.replace(beside, place)
    except OSError:
        return


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
    try:
        print(json.dumps(pools(ask_dags()), indent=2))
    except Mistake as mistake:
        sys.exit(str(mistake))
    sys.exit(0)

import airflow  # noqa: E402

OLDEST = (3, 1)
if tuple(int(part) for part in airflow.__version__.split(".")[:2]) < OLDEST:
    raise ImportError(f"muster.py needs Airflow 3.1 or later, and this is {airflow.__version__}: upgrade Airflow")

from airflow.providers.standard.operators.empty import EmptyOperator  # noqa: E402
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator  # noqa: E402
from airflow.sdk import DAG, Asset, AssetAlias, get_current_context, task  # noqa: E402
from airflow.task.trigger_rule import TriggerRule  # noqa: E402
from croniter import croniter  # noqa: E402

try:
    from airflow.sdk.exceptions import AirflowFailException, DagRunTriggerException
except ImportError:  # Airflow 3.1
    from airflow.exceptions import AirflowFailException, DagRunTriggerException  # type: ignore[no-redef]


class RunFailed(RuntimeError):
    """A failure that may pass: the task is tried again."""


def execute(words: Sequence[str], given: str | None = None) -> tuple[int, dict[str, Any], str]:
    """Runs one command: its exit code, figures and last line. Its messages go to the task's log as they come."""
    try:
        process = subprocess.Popen(
            command(*words),
            cwd=home(),
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    except OSError as error:
        raise does_not_start(error) from None
    errors: list[str] = []

    def follow() -> None:
        for line in cast("Any", process.stderr):
            errors.append(line.rstrip())
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
        # Airflow ends a task by an exception: SIGTERM stops the program, which keeps what it has read.
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                process.kill()
        follower.join()
    figures = json.loads(output) if output.strip().startswith(("{", "[")) else {}
    reason = last_line("\n".join(errors)).removeprefix("muster: ")
    return code, figures if isinstance(figures, dict) else {"rows": len(figures)}, reason


RESULTS = ("runId", "requests", "remainingToday", "milliseconds", "asOf", "unexplained", "failed", "file", "published")


def summary(code: int, figures: dict[str, Any], reason: str) -> dict[str, Any]:
    """What other tasks and people read: scalars only, as an XCom is no place for tables."""
    results: dict[str, Any] = {
        name: figures[name] for name in RESULTS if isinstance(figures.get(name), (str, int, float, bool))
    }
    marts = [mart["name"] for mart in figures.get("marts", []) if mart.get("state") == "built"]
    resources = figures.get("resources", [])
    changed = sum(
        one.get("rows_inserted", 0) + one.get("rows_changed", 0) + one.get("rows_removed", 0) for one in resources
    )
    return {
        **results,
        **({"marts": marts} if marts else {}),
        **({"changedRows": changed} if resources else {}),
        "exitCode": code,
        "partial": code == LATER,
        "reason": reason if code else "",
    }


def run_task(words: Sequence[str], connection: dict[str, Any]) -> dict[str, Any]:
    context = get_current_context()
    instance = cast("Any", context["ti"])
    name, begun = connection["name"], now()
    code, figures, reason = execute([*words, *options_for(connection)])
    result = {**summary(code, figures, reason), "startedAt": begun, "finishedAt": now()}
    print(f"muster run {result.get('runId', 'without an id')} of {name}: exit code {code}", flush=True)
    for mart in result.get("marts", []):
        cast("Any", context["outlet_events"])[AssetAlias(alias_of(name))].add(Asset(f"muster://{name}/mart/{mart}"))
    if code in (0, LATER):
        return result
    instance.xcom_push(key="failure", value=result)
    if code in HOPELESS:
        raise AirflowFailException(f"{HOPELESS[code]}: {reason}")
    raise RunFailed(reason or f"muster {' '.join(words)} ended with exit code {code}")


def options_for(connection: dict[str, Any]) -> list[str]:
    """A lock is waited for as long as the settings say, or as our own runner waits."""
    return ["--connection", connection["name"], "--json", "--wait", f"{connection['waitMinutes']}m"]


def now() -> str:
    return datetime.now(timezone.utc).isoformat()


def alias_of(connection: str) -> str:
    return f"muster-{connection}-marts"


def reset_after(moment: datetime) -> datetime:
    """The day of a key ends at midnight UTC; a few minutes later its new budget is there for certain."""
    tomorrow = moment.astimezone(timezone.utc).date() + timedelta(days=1)
    return datetime(tomorrow.year, tomorrow.month, tomorrow.day, 0, 5, tzinfo=timezone.utc)


class GoOn(TriggerDagRunOperator):
    """Triggers the next run for the time when the budget is available again, which is known when this run ends.

    Airflow begins no run of the schedule while one is queued: a schedule that comes earlier goes on by itself.
    """

    def __init__(self, *, schedule: str, reported_by: str, **options: Any) -> None:
        super().__init__(**options)
        self.schedule = schedule
        self.reported_by = reported_by

    def execute(self, context: Any) -> None:
        spent_at = context["ti"].xcom_pull(task_ids=self.reported_by, key="spent_at")
        reset = reset_after(datetime.fromisoformat(spent_at))
        if croniter(self.schedule, datetime.now(timezone.utc)).get_next(datetime) <= reset:
            print("the next run of the schedule goes on", flush=True)
            return
        if "run_after" not in inspect.signature(DagRunTriggerException).parameters:
            # Without it the run would begin at once, and spend nothing again and again.
            print("this Airflow starts no run later: the next one of the schedule goes on", flush=True)
            return
        self.run_after = reset
        # Two runs of one day ask for one.
        self.trigger_run_id = f"go_on__{reset.isoformat()}"
        super().execute(context)


class ConnectionDag:
    """The Airflow DAG of one DAG of Muster and one connection."""

    def __init__(self, dag: dict[str, Any], connection: dict[str, Any]) -> None:
        self.dag = dag
        self.settings = connection
        self.connection = connection["name"]
        # Where the settings are wrong, one task says so rather than one for each list.
        self.is_shared = connection["writers"] != 1 and "problem" not in connection
        self.pool = pool_of(connection)
        self.dag_id = f"muster_{self.connection}_{dag['name']}"
        # For a task of Muster the tasks of Airflow that others wait for.
        self.ends: dict[str, list[Any]] = {}

    def build(self) -> DAG:
        dashboard = os.environ.get("MUSTER_DASHBOARD")
        link = f"\n\n[Dashboard]({dashboard})" if dashboard else ""
        problem = self.settings.get("problem")
        description = f"The settings are wrong: {problem}" if problem else self.dag["description"]
        with DAG(
            dag_id=self.dag_id,
            description=description,
            doc_md=f"{description} Connection `{self.connection}`.{link}",
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
            gate = EmptyOperator(task_id=self.own(f"before_{one['id']}"), trigger_rule=TriggerRule.ALL_DONE)
            for earlier in one["after"]:
                for end in self.ends[earlier]:
                    end >> gate
            gate >> begins

    def own(self, name: str) -> str:
        """A name for a task that the DAG of Muster does not have, unless that one has it as well."""
        taken = {one["id"] for one in self.dag["tasks"]}
        while name in taken:
            name += "_"
        return name

    def plain(self, one: dict[str, Any]) -> Any:
        words, connection = [*one["run"].split(" "), *one["args"]], self.settings

        @task(**self.options(one, one["id"]))
        def run() -> dict[str, Any]:
            return run_task(words, connection)

        begins = run()
        self.ends[one["id"]] = [begins]
        return begins

    def mapped_sync(self, one: dict[str, Any]) -> Any:
        """Lists side by side, then the records that they name; a list that fails does not stop the others."""
        connection, args = self.settings, one["args"]

        @task(**self.options(one, one["id"]))
        def sync(resources: list[str]) -> dict[str, Any]:
            return run_task(["sync", *resources, *args], connection)

        # Not when no list was read, nor when the lists could not begin.
        @task(trigger_rule=TriggerRule.ALL_DONE_MIN_ONE_SUCCESS, **self.options(one, self.own(f"{one['id']}_by_id")))
        def by_id(resources: list[str]) -> dict[str, Any]:
            return run_task(["sync", *resources, *args], connection)

        lists = sync.expand(resources=one["groups"]["lists"])
        records = by_id(one["groups"]["byId"])
        lists >> records
        self.ends[one["id"]] = [lists, records]
        return lists

    def conclude(self) -> None:
        """The run fails with the reasons of its tasks; a partial one continues when the budget is available again."""
        pool: dict[str, Any] = {"pool": self.pool} if self.pool is not None else {}

        @task.short_circuit(task_id=self.own("partial"), trigger_rule=TriggerRule.ALL_DONE, retries=0, **pool)
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
            spent = [one["finishedAt"] for one in outcomes.values() if one is not None and one["exitCode"] == LATER]
            if spent:
                instance.xcom_push(key="spent_at", value=min(spent))
            print("partial: goes on when the budget is there again" if spent else "complete", flush=True)
            return bool(spent)

        last = cast("Any", partial())
        for ends in self.ends.values():
            for end in ends:
                end >> last
        last >> GoOn(
            task_id=self.own("go_on"),
            trigger_dag_id=self.dag_id,
            schedule=self.dag["schedule"],
            reported_by=last.operator.task_id,
            skip_when_already_exists=True,
            retries=0,
        )

    def outcome(self, instance: Any, name: str) -> dict[str, Any] | None:
        """How a task of Muster ended: the worst result of its Airflow tasks; None if one of them reported nothing."""
        names = [end.operator.task_id for end in self.ends[name]]
        failures = [one for task_id in names for one in pulled(instance, task_id, "failure")]
        results = [one for task_id in names for one in pulled(instance, task_id)]
        if not failures and len(results) < self.parts(name):
            return None
        worst = failures or [one for one in results if one["exitCode"] == LATER] or results
        return {
            "task": name,
            "exitCode": worst[0]["exitCode"],
            "error": "; ".join(one["reason"] for one in worst if one["reason"]),
            "startedAt": min(one["startedAt"] for one in [*failures, *results]),
            "finishedAt": max(one["finishedAt"] for one in [*failures, *results]),
        }

    def parts(self, name: str) -> int:
        """A task for each list, and one for the records that are read by id."""
        groups = next(one.get("groups") for one in self.dag["tasks"] if one["id"] == name)
        return len(groups["lists"]) + 1 if self.is_shared and groups else 1

    def record(self, outcomes: dict[str, dict[str, Any] | None]) -> None:
        """For `muster status`, the metrics and the notifications; a failure to record fails no run."""
        outcome = json.dumps({"dag": self.dag["name"], "tasks": [one for one in outcomes.values() if one is not None]})
        code, _, reason = execute(["dag", "record", self.dag["name"], "-", *options_for(self.settings)], outcome)
        if code:
            print(f"the run could not be recorded: {reason}", flush=True)


def pulled(instance: Any, name: str, key: str = "return_value") -> list[dict[str, Any]]:
    """What a task left, or each task that it was mapped to."""
    found = instance.xcom_pull(task_ids=name, key=key)
    if found is None:
        return []
    return [found] if isinstance(found, dict) else [one for one in found if one is not None]


for listed_dag in read_dags():
    for listed_connection in listed_dag["connections"]:
        built = ConnectionDag(listed_dag, listed_connection)
        try:
            globals()[built.dag_id] = built.build()
        except Exception as error:
            # A name of a task that Airflow does not take, or has already.
            raise Mistake(f"{built.dag_id}: {last_line(str(error))}") from None
