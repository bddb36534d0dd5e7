"""A DAG of somebody else, which starts when a mart has changed."""

from __future__ import annotations

from datetime import datetime, timezone

from airflow.sdk import DAG, Asset, task

with DAG(
    dag_id="downstream",
    schedule=[Asset("muster://duck/mart/worker_week")],
    start_date=datetime(2025, 1, 1, tzinfo=timezone.utc),
    is_paused_upon_creation=False,
):

    @task
    def report() -> None:
        print("worker_week has changed")

    report()
