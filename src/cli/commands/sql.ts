/** `muster sql QUERY`: one query over the warehouse, read-only. */

import { openForQuery } from '../../app/connection/warehouse.ts'
import type { QueryResult } from '../../warehouse/query.ts'
import { type CommandModule, numberOf, wholeNumber } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printTable } from '../terminal/output.ts'

export const command: CommandModule = {
  arguments: [{ name: '<query...>', summary: 'one SQL query; quote it for the shell' }],
  options: [{ flags: '--limit <number>', summary: 'rows shown', parse: wholeNumber(1), fallback: 1000 }],
  examples: [
    'muster sql "select status, count(*) from star.fact_timesheet group by all"',
    'muster sql "describe star.fact_invoice"',
    'muster sql --json --limit 10 "from star.dim_company"',
  ],
  run: async (context, args, options) => {
    const session = await openForQuery(context.connection(), context)
    try {
      print(context, await session.query(args.join(' '), numberOf(options, 'limit'), context.signal))
      return 0
    } finally {
      await session.close()
    }
  },
}

function print(context: CommandContext, { columns, rows, cut }: QueryResult): void {
  if (context.json) printJson(context, rows)
  else {
    printTable(
      context,
      columns.map(({ name, isNumeric }) => ({ title: name, align: isNumeric ? 'right' : 'left' })),
      // As text: digits in groups would make another number of an id or a year.
      rows.map(row => columns.map(({ name }) => textOf(row[name]))),
    )
  }
  if (cut === 'rows') context.stderr.write(`there are more rows than these ${rows.length}: raise --limit\n`)
  if (cut === 'bytes')
    context.stderr.write(
      `the answer is cut after ${rows.length} rows, because it is too large: read fewer columns, or raise queries.answerMegabytes\n`,
    )
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
