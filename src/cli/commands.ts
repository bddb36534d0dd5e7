/** Lists every command and its help line. To add one, add a file in `commands/` and an entry here. */
import type { CommandSet } from './command.ts'

const everyDay = 'Every day'
const first = 'Getting started'
const reading = 'Reading the data'
const complete = 'Keeping it complete'
const schedule = 'Running on a schedule'
const privacy = 'Personal data and access'
const writing = 'Writing to the service'

export const commandSet: CommandSet = {
  commands: {
    sync: {
      summary: 'read the changes since the last sync; the first time, read everything',
      purpose: everyDay,
      load: () => import('./commands/sync.ts'),
    },
    build: {
      summary: 'rebuild the marts whose sources or definitions changed, each in one transaction',
      purpose: everyDay,
      load: () => import('./commands/build.ts'),
    },
    status: {
      summary:
        'show how many rows of each resource are stored, how fresh they are, and the proof of completeness',
      purpose: everyDay,
      load: () => import('./commands/status.ts'),
    },
    check: {
      summary: 'check the warehouse: keys, references, sums, totals, freshness, personal data',
      purpose: everyDay,
      aliases: ['test', 'verify'],
      load: () => import('./commands/check.ts'),
    },
    sql: {
      summary: 'run one query over the warehouse, read-only',
      purpose: everyDay,
      aliases: ['query'],
      load: () => import('./commands/sql.ts'),
    },
    demo: {
      summary: 'try everything on a sandbox: sync it, change it, sync again, build the marts',
      purpose: first,
      load: () => import('./commands/demo.ts'),
    },
    init: {
      summary: 'write config/muster.yaml; on a terminal, ask for its values and test the key',
      purpose: first,
      aliases: ['setup'],
      load: () => import('./commands/init.ts'),
    },
    config: {
      summary: 'show the settings in effect and where each comes from, without secrets',
      purpose: first,
      load: () => import('./commands/config.ts'),
    },
    schema: {
      summary: 'print the JSON Schema of the settings file, for editors',
      purpose: first,
      load: () => import('./commands/schema.ts'),
    },
    completion: {
      summary: 'print the completion script of a shell: bash, zsh or fish',
      purpose: first,
      load: () => import('./commands/completion.ts'),
    },
    man: {
      summary: 'print the manual page',
      purpose: first,
      load: () => import('./commands/man.ts'),
    },
    doctor: {
      summary:
        'check settings, key, access, warehouse and disk, and say what to do about problems; about 12 requests',
      purpose: first,
      load: () => import('./commands/doctor.ts'),
    },
    plan: {
      summary:
        'estimate the requests, minutes and days of a sync, a sweep or, with --from and --to, a backfill',
      purpose: first,
      load: () => import('./commands/plan.ts'),
    },
    sandbox: {
      summary: 'start a stand-in for the service, with generated data, until interrupted',
      purpose: first,
      load: () => import('./commands/sandbox.ts'),
    },
    metric: {
      summary: 'compute timeToFill or workersOverHours from the warehouse, as the service defines it',
      purpose: reading,
      load: () => import('./commands/metric.ts'),
    },
    dashboard: {
      summary: 'show cost, hiring, hours and money as pages in a browser, or write them into one HTML file',
      purpose: reading,
      load: () => import('./commands/dashboard.ts'),
    },
    docs: {
      summary: 'write the data dictionary: every table and column, diagrams, bus matrix and lineage',
      purpose: reading,
      aliases: ['dictionary'],
      load: () => import('./commands/docs.ts'),
    },
    marts: {
      summary: 'write the marts as SQL for Spark over the lake, with a runner and a dbt project',
      purpose: reading,
      load: () => import('./commands/marts.ts'),
    },
    export: {
      summary: 'write star and mart as Parquet files with a manifest; no personal data unless asked',
      purpose: reading,
      load: () => import('./commands/export.ts'),
    },
    publish: {
      summary: 'write FILE.published.duckdb: star and mart, without personal data, for readers',
      purpose: reading,
      load: () => import('./commands/publish.ts'),
    },
    lake: {
      summary: 'publish star and mart as Delta tables, and show, check or vacuum them',
      purpose: reading,
      load: () => import('./commands/lake.ts'),
    },
    mcp: {
      summary:
        'give an assistant read-only tools for the warehouse, without personal data, over stdin and stdout',
      purpose: reading,
      load: () => import('./commands/mcp.ts'),
    },
    get: {
      summary: 'show one record as the service returns it, as JSON',
      purpose: reading,
      load: () => import('./commands/get.ts'),
    },
    backfill: {
      summary: 'read the records created between two days again, whether stored or not',
      purpose: complete,
      load: () => import('./commands/backfill.ts'),
    },
    discover: {
      summary: 'add ids of requisitions, credit notes and the like from a file; the next sync reads them',
      purpose: complete,
      load: () => import('./commands/discover.ts'),
    },
    sweep: {
      summary: 'find records missing at the source; tombstone those that two pieces of evidence confirm',
      purpose: complete,
      load: () => import('./commands/sweep.ts'),
    },
    replay: {
      summary: 'rebuild the warehouse from the landed pages, without any request',
      purpose: complete,
      load: () => import('./commands/replay.ts'),
    },
    crosscheck: {
      summary:
        'compare our metrics with the service’s own, figure by figure, and name the records that differ',
      purpose: complete,
      load: () => import('./commands/crosscheck.ts'),
    },
    runs: {
      summary: 'list the last runs, or show one run in detail',
      purpose: complete,
      load: () => import('./commands/runs.ts'),
    },
    copy: {
      summary: 'copy a warehouse to another engine or place, with its watermarks',
      purpose: complete,
      load: () => import('./commands/copy.ts'),
    },
    upgrade: {
      summary: 'upgrade a warehouse of an earlier version to the schema of this one',
      purpose: complete,
      aliases: ['migrate'],
      load: () => import('./commands/upgrade.ts'),
    },
    'dag list': {
      summary: 'list the DAGs with their schedules and tasks, and invalid files with their errors',
      purpose: schedule,
      aliases: ['dags'],
      load: () => import('./commands/dag-list.ts'),
    },
    'dag run': {
      summary: 'run the tasks of a DAG in order; a failed task skips only the tasks that need it',
      purpose: schedule,
      aliases: ['run'],
      load: () => import('./commands/dag-run.ts'),
    },
    'dag record': {
      summary: 'record a run of a DAG whose tasks another scheduler ran',
      purpose: schedule,
      load: () => import('./commands/dag-record.ts'),
    },
    'dag export': {
      summary: 'print the files that run a DAG from cron, systemd or kubernetes',
      purpose: schedule,
      load: () => import('./commands/dag-export.ts'),
    },
    serve: {
      summary:
        'receive webhooks, read the records that they name, and run DAGs on schedule, until interrupted',
      purpose: schedule,
      load: () => import('./commands/serve.ts'),
    },
    alerts: {
      summary: 'list the alerts of the settings: which fire, since when, and which fired before',
      purpose: schedule,
      load: () => import('./commands/alerts.ts'),
    },
    metrics: {
      summary: 'print metrics for Prometheus: runs, budget, freshness and checks',
      purpose: schedule,
      load: () => import('./commands/metrics.ts'),
    },
    forget: {
      summary: 'overwrite everything stored about a person; facts, sums and ids stay',
      purpose: privacy,
      load: () => import('./commands/forget.ts'),
    },
    drift: {
      summary: 'list fields and values that the contract does not have, and accept them',
      purpose: schedule,
      load: () => import('./commands/drift.ts'),
    },
    fields: {
      summary: 'print the field policy: what is blocked or hashed before it is stored',
      purpose: privacy,
      load: () => import('./commands/fields.ts'),
    },
    clean: {
      summary: 'make what is stored already follow the field policy, with --fields',
      purpose: privacy,
      load: () => import('./commands/clean.ts'),
    },
    retention: {
      summary: 'remove personal data older than its retention period',
      purpose: privacy,
      load: () => import('./commands/retention.ts'),
    },
    'audit-pii': {
      summary: 'search everything published for values of the PII tables; exit 3 when one is found',
      purpose: privacy,
      load: () => import('./commands/audit-pii.ts'),
    },
    roles: {
      summary: 'create or update the roles of a PostgreSQL warehouse: owner, loader, reader, bi, privacy',
      purpose: privacy,
      load: () => import('./commands/roles.ts'),
    },
    'workers create': {
      summary: 'create the workers of a file; everything is checked before anything is sent',
      purpose: writing,
      load: () => import('./commands/workers-create.ts'),
    },
    'workers update': {
      summary: 'update the workers of a file by id; only the given fields are changed',
      purpose: writing,
      load: () => import('./commands/workers-update.ts'),
    },
    'files upload': {
      summary:
        'upload a PDF, JPEG or PNG for a record; prints the token for its update, valid for 15 minutes',
      purpose: writing,
      load: () => import('./commands/files-upload.ts'),
    },
  },
  groups: {
    dag: 'list, run and export the DAGs of dags/',
    workers: 'create and update the workers of an agency',
    files: 'upload files for workers and invoices',
  },
}
