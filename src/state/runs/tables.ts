/** Declares the tables of runs: what each did, which resource it may write, and which version made the structure. */
import { count, type LedgerRow, oneOf, optional, real, table, text, time } from '../declaration.ts'

const results = {
  requests: count('Requests sent.'),
  records_read: count('Records read from pages.'),
  rows_inserted: count('Rows inserted into star.'),
  rows_changed: count('Rows of star replaced by a newer version.'),
  records_touched: optional(
    count('Records read with unchanged content but new bookkeeping, such as a later updatedAt.'),
  ),
  rows_removed: count('Rows of star removed because they are missing at the source.'),
  records_unchanged: count('Records read whose stored version is the same.'),
  quarantined: count('Records that could not be loaded.'),
}

export const runTables = {
  run: table({
    description: 'One row per run of a command that writes the warehouse.',
    columns: {
      run_id: text('Id of the run; sorts by its start.'),
      command: text('Command, such as sync.'),
      arguments: text('Its arguments, without secrets.'),
      state: oneOf(['running', 'done', 'failed', 'incomplete', 'stopped']),
      started_at: time('When it began.'),
      finished_at: optional(time('When it ended; null while it runs, and after its process died.')),
      retries: count('Retried requests.'),
      ...results,
      quarantine_records: optional(count('Max records of a resource in quarantine, by its settings.')),
      quarantine_percent: optional(
        real('Max percent of the records in quarantine; the higher limit applies.'),
      ),
      frozen: optional(text('Resources whose schemaPolicy was freeze, separated by spaces.')),
      discovered_at: optional(time('When the ids in its rows had been recorded; null before that.')),
      reclaimed_at: optional(time('When it reclaimed the space of replaced and removed rows.')),
      message: optional(text('Why it failed, stopped or is incomplete.')),
      program_version: text('Version of the program.'),
    },
    key: ['run_id'],
    isPublished: true,
    lifetime: 'lasting',
    shared: {
      columns: ['run_id', 'command', 'state', 'started_at', 'finished_at', 'program_version'],
      // The last run with records_read > 0 shows how fresh the rows are.
      atMostOne: ['records_read'],
      isShown: true,
    },
  }),

  run_resource: table({
    description: 'One row per run and resource that it worked on.',
    columns: {
      run_id: text('The run.'),
      resource: text('The resource, such as timesheets.'),
      state: oneOf(['done', 'failed', 'incomplete', 'skipped', 'stopped']),
      ...results,
      note: optional(text('Why it was skipped or incomplete, failed or stopped.')),
    },
    key: ['run_id', 'resource'],
    isPublished: false,
    lifetime: 'lasting',
    shared: { columns: ['run_id', 'resource', 'state'] },
  }),

  dag_task: table({
    description: 'One row per task of a DAG run.',
    columns: {
      dag_run_id: text('Run of the DAG.'),
      dag: text('Name of the DAG.'),
      task: text('Name of the task.'),
      state: oneOf(['done', 'failed', 'skipped', 'later']),
      started_at: optional(time('When it began.')),
      finished_at: optional(time('When it ended.')),
      error: optional(text('Why it failed, was skipped or continues later.')),
    },
    key: ['dag_run_id', 'task'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  dag_run: table({
    description: 'One row per run of a DAG that has ended.',
    columns: {
      dag_run_id: text('Run of the DAG.'),
      dag: text('Name of the DAG.'),
      state: oneOf({
        done: 'every task was done',
        later: 'the next run continues, as a budget, a deadline or a lock ended a task',
        failed: 'a task failed',
      }),
      started_at: time('When it began.'),
      finished_at: time('When it ended.'),
      reason: optional(text('Tasks that were not done, and why; null when all were.')),
    },
    key: ['dag_run_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  lease: table({
    description: 'One row per resource: which process is writing it, or wrote it last.',
    columns: {
      resource: text('The resource.'),
      holder: text('Run that holds the lease.'),
      epoch: count('Number of the lease; a higher one voids a lower one.'),
      expires_at: time('When it expires unless it is renewed.'),
    },
    key: ['resource'],
    isPublished: false,
    lifetime: 'local',
  }),

  migration: table({
    description: 'Three rows: the structure of the warehouse, its number, and the program that made it.',
    columns: {
      name: oneOf(['structure', 'schema', 'program']),
      checksum: text(
        'SHA-256 of the declarations and of sql/, the number of the structure, or the version of the program.',
      ),
      applied_at: time('When it was applied.'),
    },
    key: ['name'],
    isPublished: false,
    lifetime: 'local',
  }),
}

export type RunRow = LedgerRow<typeof runTables.run>
export type RunResourceRow = LedgerRow<typeof runTables.run_resource>
export type DagRunRow = LedgerRow<typeof runTables.dag_run>
export type DagTaskRow = LedgerRow<typeof runTables.dag_task>
