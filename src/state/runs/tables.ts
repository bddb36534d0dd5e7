/** Tables of runs: what each did, which resource it may write, and which version made the structure. */
import { count, oneOf, optional, type Row, real, table, text, time } from '../declaration.ts'

const results = {
  requests: count('Requests sent.'),
  records_read: count('Records read from pages.'),
  rows_inserted: count('Rows inserted into star.'),
  rows_changed: count('Rows of star replaced by a newer version.'),
  records_touched: optional(
    count('Records read with the stored content and other bookkeeping, such as a later updatedAt.'),
  ),
  rows_removed: count('Rows of star that are missing at the source.'),
  records_unchanged: count('Records read whose stored version was the same.'),
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
      retries: count('Requests that were repetitions.'),
      ...results,
      batches_read_as_json: optional(
        count('Batches of pages with a record of another structure, which take three times as long to read.'),
      ),
      quarantine_records: optional(
        count('Records of a resource that might be in quarantine, by its settings.'),
      ),
      quarantine_percent: optional(real('Or so many percent of them, if those are more.')),
      discovered_at: optional(time('When the ids that its rows name had been noted; null before.')),
      reclaimed_at: optional(time('When it gave back the space of rows that were replaced or removed.')),
      message: optional(text('Why it failed, stopped or is incomplete.')),
      program_version: text('Version of the program.'),
    },
    key: ['run_id'],
    isPublished: true,
    lifetime: 'lasting',
    shared: {
      columns: ['run_id', 'command', 'state', 'started_at', 'finished_at', 'program_version'],
      // The last run that read something tells how old the rows are.
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
      error: optional(text('Why it failed, was skipped or goes on later.')),
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
        later: 'the next run goes on, as a budget, a deadline or a lock ended a task',
        failed: 'a task failed',
      }),
      started_at: time('When it began.'),
      finished_at: time('When it ended.'),
      reason: optional(text('The tasks that were not done, with why; null when all were.')),
    },
    key: ['dag_run_id'],
    isPublished: false,
    lifetime: 'lasting',
  }),

  lease: table({
    description: 'One row per resource that a process is writing or wrote last.',
    columns: {
      resource: text('The resource.'),
      holder: text('Run that holds the lease.'),
      epoch: count('Number of the lease; a later one voids an earlier one.'),
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

export type RunRow = Row<typeof runTables.run>
export type RunResourceRow = Row<typeof runTables.run_resource>
export type DagRunRow = Row<typeof runTables.dag_run>
export type DagTaskRow = Row<typeof runTables.dag_task>
