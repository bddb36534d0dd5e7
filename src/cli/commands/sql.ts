/** `muster sql QUERY`: one query over the warehouse, read-only. */

import { openForQuery } from '../../app/connection/warehouse.ts'
import { MusterError, UsageError } from '../../lib/errors.ts'
import type { QueryResult } from '../../warehouse/query.ts'
import { type CommandModule, flagOption, numberOption, type Options, wholeNumber } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { csvOf, ndjsonOf } from '../reports/rows-as-text.ts'
import { printJson, printTable } from '../terminal/output.ts'

/** A table for people. What a program reads is whole unless it asks for less. */
const rowsOfTable = 1000

type Form = 'table' | 'json' | 'csv' | 'ndjson'

export const command: CommandModule = {
  arguments: [{ name: '<query...>', summary: 'one SQL query; quote it for the shell' }],
  options: [
    {
      flags: '--limit <number>',
      summary: `most rows; ${rowsOfTable} for a table and all for --json, --csv and --ndjson unless given`,
      parse: wholeNumber(1),
    },
    { flags: '--csv', summary: 'comma-separated, with a line of names' },
    { flags: '--ndjson', summary: 'a JSON document a line' },
  ],
  notes: ['Reads the warehouse alone: it needs no API key.'],
  examples: [
    'muster sql "select status, count(*) from star.fact_timesheet group by all"',
    'muster sql "describe star.fact_invoice"',
    'muster sql --csv "from mart.labour_spend_weekly"',
    'muster sql --json --limit 10 "from star.dim_company"',
  ],
  run: async (context, args, options) => {
    const form = formOf(context, options)
    const given = numberOption(options, 'limit')
    const session = await openForQuery(context.stored(), context)
    try {
      const most = form === 'table' ? rowsOfTable : Number.MAX_SAFE_INTEGER - 1
      const result = await session.query(args.join(' '), given ?? most, context.signal)
      print(context, form, result)
      requireWhole(context, form, result)
      return 0
    } finally {
      await session.close()
    }
  },
}

function formOf({ json }: CommandContext, options: Options): Form {
  const [csv, ndjson] = [flagOption(options, 'csv'), flagOption(options, 'ndjson')]
  if ([json, csv, ndjson].filter(Boolean).length > 1)
    throw new UsageError({ what: '--json, --csv and --ndjson exclude each other', next: 'give one of them' })
  if (json) return 'json'
  if (csv) return 'csv'
  return ndjson ? 'ndjson' : 'table'
}

function print(context: CommandContext, form: Form, { columns, rows }: QueryResult): void {
  const names = columns.map(({ name }) => name)
  if (form === 'json') printJson(context, rows)
  else if (form === 'ndjson') context.stdout.write(ndjsonOf(rows))
  else if (form === 'csv') context.stdout.write(csvOf(names, rows))
  else
    printTable(
      context,
      columns.map(({ name, isNumeric }) => ({ title: name, align: isNumeric ? 'right' : 'left' })),
      // As text: digits in groups would make another number of an id or a year.
      rows.map(row => names.map(name => textOf(row[name]))),
    )
}

/** A program would take a part for the whole: for it an answer that was too large is a failure. */
function requireWhole(context: CommandContext, form: Form, { rows, cut }: QueryResult): void {
  if (cut === 'rows') context.stderr.write(`there are more rows than these ${rows.length}: raise --limit\n`)
  if (cut !== 'bytes') return
  const what = `the answer is cut after ${rows.length} rows, because it is too large`
  const next = 'read fewer columns, or raise queries.answerMegabytes'
  if (form !== 'table') throw new MusterError({ what, next })
  context.stderr.write(`${what}: ${next}\n`)
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
