/** Declares the tables of marts: what each was built from, check results, and the service's metrics beside ours. */
import {
  count,
  day,
  decimal,
  type LedgerRow,
  oneOf,
  optional,
  real,
  table,
  text,
  time,
} from '../declaration.ts'

export const martTables = {
  mart: table({
    description: 'One row per mart: what it was last built from, and how the last attempt went.',
    columns: {
      name: text('The mart, without its schema.'),
      definition_id: text('Hash of the definition that it was built from.'),
      shape: text('Hash of its columns; when it changes, the table is created again.'),
      sources: text('State of its sources; when it changes, the mart is built again.'),
      state: oneOf(
        { built: 'it succeeded', failed: 'a statement failed', refused: 'a check failed' },
        'How the last attempt went',
      ),
      built_at: optional(time('When its current rows were built; null before the first build.')),
      as_of: optional(time('Its rows include what was read from the service up to this time.')),
      rows: optional(count('Rows that it has now.')),
      milliseconds: optional(count('Duration of the last successful build.')),
      tried_at: time('When the last attempt was made.'),
      message: optional(text('Why the last attempt failed or was refused.')),
      run_id: text('Run that made the last attempt.'),
    },
    key: ['name'],
    isPublished: false,
    lifetime: 'local',
  }),

  write_count: table({
    description: 'One row per resource or dimension: how often its rows were written.',
    columns: {
      name: text("The resource, or a dimension whose members records name; 'every table' for all."),
      changes: count('Transactions that changed the content of rows.'),
      touches: count('Transactions that changed only bookkeeping columns, such as updatedAt.'),
    },
    key: ['name'],
    isPublished: false,
    lifetime: 'local',
  }),

  accrual_month_end: table({
    description:
      'One row per month end, company, project, agency and state: the accrual in the first build after that day.',
    columns: {
      month_end_date: day('Last day of the month, in the reporting zone.'),
      company_id: text('The hiring company.'),
      project_id: text('The project.'),
      agency_id: text('The agency.'),
      accrual_state: oneOf(['approved', 'unapproved', 'claims']),
      records: count('Timesheets or claims.'),
      net_hours: decimal('Hours after breaks.'),
      accrued_value: decimal('Charge or claims owed, in the currency of the company.'),
      recorded_at: time('When it was frozen.'),
    },
    key: ['month_end_date', 'company_id', 'project_id', 'agency_id', 'accrual_state'],
    isPublished: true,
    lifetime: 'lasting',
  }),

  company_currency: table({
    description: 'One row per company: the currency of its amounts, which the service does not report.',
    columns: {
      company_id: text('The company.'),
      currency: text('ISO 4217 code; unknown if no setting or address decides it.'),
      basis: oneOf(
        {
          setting: 'from the settings',
          country: 'the currency of the country of its address',
          fallback: 'from the settings, for all other companies',
          unknown: 'nothing tells',
        },
        'Where it comes from',
      ),
      settled_at: time('When it was settled.'),
    },
    key: ['company_id'],
    isPublished: true,
    lifetime: 'lasting',
  }),

  reporting_zone: table({
    description: 'One row: how the days of star, history and marts are counted, unless by default.',
    columns: {
      zone: text('IANA name of the zone; the setting reportingZone.'),
      first_day: optional(day('First plausible day; the setting plausibleDates.')),
      last_day: optional(day('Last plausible day.')),
      counted_at: time('When the days were counted so.'),
    },
    key: ['zone'],
    isPublished: true,
    lifetime: 'lasting',
    shared: { columns: ['zone', 'first_day', 'last_day', 'counted_at'], isShown: true },
  }),

  check_result: table({
    description:
      'One row per run, check and table with failing rows; a check that passed has one row without a table.',
    columns: {
      run_id: text('Run of the check.'),
      check_name: text('The check: a file in sql/check, or keys and references.'),
      subject: text('Table with the failing rows; empty for a check that passed.'),
      severity: oneOf({
        error: 'marts that read the table are not rebuilt',
        warn: 'needs a look; marts are rebuilt',
      }),
      failed_rows: count('Rows that failed; 0 for a check that passed.'),
      sample_keys: text("Keys of the first of them, separated by '; '."),
      checked_at: time('When it was checked.'),
    },
    key: ['run_id', 'check_name', 'subject'],
    isPublished: true,
    lifetime: 'lasting',
  }),

  metric_calibration: table({
    description:
      'One row per choice that the contract leaves open about a metric: how the service decides it.',
    columns: {
      rule: text('The choice, such as quantile or day unit.'),
      rule_no: count('Its number in docs/metrics.md; 0 without one.'),
      metric: text('The metric.'),
      state: text('Result, such as found or indistinguishable; untested if nothing was asked.'),
      chosen: text('The option in force, as text: a list begins and ends with a comma, null is empty.'),
      candidates_alive: text('Options that agree with the service; a JSON array.'),
      evidence: text('Figures that agreed and figures compared, by option; a JSON object.'),
      calls_used: count('Requests of the whole calibration.'),
      definition_id: text('Id of the definition made of all choices.'),
      calibrated_at: time('When it was calibrated.'),
      run_id: text('Run of the calibration.'),
      contract_version: text('Version of the contract.'),
    },
    key: ['rule'],
    isPublished: true,
    lifetime: 'lasting',
    shared: {
      columns: [
        'rule',
        'rule_no',
        'metric',
        'state',
        'chosen',
        'candidates_alive',
        'definition_id',
        'calibrated_at',
        'run_id',
        'contract_version',
      ],
      isShown: true,
    },
  }),

  crosscheck: table({
    description: 'One row per run, metric, group and figure: our value beside that of the service.',
    columns: {
      run_id: text('Run of the comparison.'),
      metric: text('Metric, such as timeToFill.'),
      group_by: text('Grouping; all means one group.'),
      group_key: text('The group as ids, month and first day of the week, separated by |.'),
      group_label: text('Display name of the group.'),
      figure: text("The service's name of the figure."),
      ours: optional(real('Our value.')),
      theirs: optional(real('Value of the service.')),
      difference: optional(real('Our value less theirs.')),
      verdict: oneOf({
        equal: 'both are the same',
        explained: 'the reason accounts for the difference',
        uncovered: 'the requisitions are known by reference only and cannot be fetched yet',
        unexplained: 'nothing accounts for the difference',
      }),
      reason: optional(text('Why they differ; null when they do not.')),
      records: optional(text('Records behind the difference; a JSON array.')),
      definition_id: text('Definition of the metric behind our value.'),
      checked_at: time('When they were compared.'),
    },
    isPublished: true,
    lifetime: 'lasting',
  }),
}

export type AccrualMonthEndRow = LedgerRow<typeof martTables.accrual_month_end>
export type CompanyCurrencyRow = LedgerRow<typeof martTables.company_currency>
export type MartRow = LedgerRow<typeof martTables.mart>
export type WriteCountRow = LedgerRow<typeof martTables.write_count>
export type CheckResultRow = LedgerRow<typeof martTables.check_result>
export type MetricCalibrationRow = LedgerRow<typeof martTables.metric_calibration>
export type CrosscheckRow = LedgerRow<typeof martTables.crosscheck>
