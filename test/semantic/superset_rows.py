"""Prints the rows of every imported chart, as Superset itself asks for them, the dashboards, the datasets and the database.

With a password it sets that of the database first, as a person does after an import.
"""

import sys

import simplejson
from superset.app import create_app

app = create_app()
with app.app_context():
    from flask import g
    from sqlalchemy.engine.url import make_url
    from superset import db, security_manager
    from superset.connectors.sqla.models import SqlaTable
    from superset.models.core import Database
    from superset.models.dashboard import Dashboard

    g.user = security_manager.find_user("admin")
    database = db.session.query(Database).one()
    if len(sys.argv) > 1:
        uri = make_url(database.sqlalchemy_uri).set(password=sys.argv[1])
        database.set_sqlalchemy_uri(uri.render_as_string(hide_password=False))
        db.session.commit()
    dashboards = db.session.query(Dashboard).all()
    charts = {}
    for chart in [chart for one in dashboards for chart in one.slices]:
        answer = chart.get_query_context().get_payload()["queries"][0]
        charts[chart.slice_name] = {"rows": answer.get("data"), "error": answer.get("error")}
    told = {
        "charts": charts,
        "dashboards": {one.dashboard_title: len(one.slices) for one in dashboards},
        "datasets": {
            one.table_name: {
                "description": one.description,
                "metrics": sorted(metric.metric_name for metric in one.metrics),
                "columns": len(one.columns),
            }
            for one in db.session.query(SqlaTable).all()
        },
        "uri": database.sqlalchemy_uri,
    }
    # As Superset answers a browser: what is no number is null.
    print("TOLD " + simplejson.dumps(told, default=str, ignore_nan=True))
