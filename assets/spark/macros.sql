{# The day on which the marts are as of; `--vars` may name another. #}
{% macro muster_today() -%}
  {{- var("today", run_started_at.astimezone(modules.pytz.timezone(var("zone"))).strftime("%Y-%m-%d")) -}}
{%- endmacro %}

{# End of the last run that read the service, as Muster's last build in the lake says. #}
{% macro muster_as_of() -%}
  {%- if execute -%}
    {%- set found = run_query("select date_format(max(as_of), \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\") as at from " ~ source("mart", "data_health") ~ " where connection = '" ~ var("connection") ~ "'") -%}
    {{- found.columns[0].values()[0] -}}
  {%- endif -%}
{%- endmacro %}

{% macro muster_delete(relation) -%}
  {%- if target.type != "databricks" and is_incremental() -%}
    delete from {{ relation }} where connection = '{{ var("connection") }}'
  {%- else -%}
    select 1
  {%- endif -%}
{%- endmacro %}

{# dbt run-operation muster_register --args '{lake: "s3://company-data/muster"}' names the tables of a lake in the catalogue. #}
{% macro muster_register(lake) -%}
  {%- for node in graph.sources.values() -%}
    {%- do run_query("create schema if not exists " ~ node.schema) -%}
    {%- do run_query("create table if not exists " ~ node.schema ~ "." ~ node.name ~ " using delta location '" ~ lake ~ "/" ~ node.source_name ~ "/" ~ node.name ~ "'") -%}
  {%- endfor -%}
{%- endmacro %}
