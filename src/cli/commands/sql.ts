/** `muster sql [QUERY]`: runs read-only queries over the warehouse: one, those on stdin, or from a prompt. */
import { resolve } from 'node:path'
import { stemOf } from '../../app/connection/storage.ts'
import { openForQuery } from '../../app/connection/warehouse.ts'
import { counted } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { readStreamText } from '../../lib/input-file.ts'
import { writeAnswerFile } from '../../publish/export/answer-file.ts'
import { recordOutput } from '../../publish/outputs.ts'
import { queryAsOf, viewsAsOf } from '../../warehouse/as-of.ts'
import { statementsIn } from '../../warehouse/sql-tokens.ts'
import {
  type CommandModule,
  calendarDay,
  flagOption,
  integerBetween,
  numberOption,
  type Options,
  textOption,
} from '../command.ts'
import type { CommandContext } from '../context.ts'
import { guardedBy } from '../guarded.ts'
import { type AnswerForm, printAnswerTable, printRows } from '../print-answer.ts'
import { runPrompt } from '../prompt.ts'
import { printJson } from '../terminal/output.ts'

/** Default limit of a table. Output for programs is complete unless --limit is given. */
const rowsOfTable = 1000

/** Maximum bytes of all statements on stdin. */
const longestInput = 1_048_576

const everyRow = Number.MAX_SAFE_INTEGER - 1

export const command: CommandModule = {
  arguments: [
    {
      name: '[query...]',
      summary: 'one SQL query, quoted for the shell; without it, or as -, statements from stdin',
    },
  ],
  options: [
    {
      flags: '--limit <number>',
      summary: `maximum rows; default ${rowsOfTable} for a table, otherwise all`,
      parse: integerBetween(1),
    },
    {
      flags: '--as-of <day>',
      summary:
        'lets the query read tables of schema asof: star as it was known at the end of a day, YYYY-MM-DD',
      parse: calendarDay,
    },
    { flags: '--views', summary: 'with --as-of: print statements that create these tables as views' },
    { flags: '--csv', summary: 'comma-separated, with a header line' },
    {
      flags: '--spreadsheet',
      summary: "the same for a spreadsheet: texts it would run as formulas begin with '",
    },
    { flags: '--ndjson', summary: 'one JSON document per line' },
    { flags: '--parquet <file>', summary: 'write the rows into a Parquet file' },
    { flags: '--force', summary: 'replace a file that muster did not write' },
  ],
  notes: [
    'Reads only the warehouse: it needs no API key. Rows are written as they are read, so an answer may be larger than',
    'memory. Statements on stdin run one after the other until one fails. On a terminal, without a query, it prompts for',
    'queries.',
  ],
  examples: [
    'muster sql "select status, count(*) as timesheets from star.fact_timesheet group by 1"',
    'muster sql --csv "select * from mart.labour_spend_weekly"',
    'muster sql --json --limit 10 "select * from star.dim_company"',
    'muster sql --parquet hours.parquet "select worker_id, sum(net_hours) as hours from star.fact_timesheet group by 1"',
    'muster sql --as-of 2026-09-30 "select status, count(*) as timesheets from asof.fact_timesheet group by 1"',
    'muster sql --as-of 2026-09-30 --views > asof.sql',
    'muster sql --csv < query.sql',
    'muster sql',
  ],
  run: async (context, args, options) => {
    const form = formOf(context, options)
    const { stdin, screen } = context
    const asOf = textOption(options, 'asOf')
    if (flagOption(options, 'views')) return printViews(context, asOf, args)
    const isStdin = args.length === 0 || (args.length === 1 && args[0] === '-')
    if (args.length === 0 && form === 'table' && asOf === undefined && stdin && screen && stdin().isTTY)
      return runPrompt(context, { stdin, screen })
    const file = textOption(options, 'parquet')
    const limit = numberOption(options, 'limit')
    const written = isStdin ? await stdinQueries(context, args.length > 0) : [args.join(' ')]
    const queries = written.map(sql =>
      asOf === undefined ? sql : queryAsOf(sql, { day: asOf, zone: context.stored().days.zone }),
    )
    if (form === 'json' && queries.length > 1)
      throw new UsageError({
        what: `--json writes one document, and there are ${queries.length} statements`,
        next: 'give one of them, or --ndjson',
      })
    const needsHistory = asOf !== undefined
    if (file === undefined)
      for (const sql of queries) await print(context, { sql, form, limit, needsHistory })
    else {
      const asked = { sql: queries.join(';\n'), form, limit, needsHistory }
      await writeParquet(context, asked, { file, isForced: flagOption(options, 'force') })
    }
    return 0
  },
}

/** For psql, duckdb or a BI tool, run by the owner of the warehouse: `muster sql` itself only reads. */
function printViews(context: CommandContext, day: string | undefined, args: readonly string[]): 0 {
  if (day === undefined || args.length > 0)
    throw new UsageError({
      what: '--views needs a day and takes no query',
      next: 'muster sql --as-of 2026-09-30 --views > asof.sql',
    })
  const connection = context.stored()
  const statements = viewsAsOf({ day, zone: connection.days.zone }, connection.schemaPrefix)
  context.stdout.write(`${statements.join(';\n')};\n`)
  return 0
}

/** With `isAsked`, also reads from a terminal. Throws UsageError if there is no statement. */
async function stdinQueries({ stdin, signal }: CommandContext, isAsked: boolean): Promise<readonly string[]> {
  const stream = stdin?.()
  const isRead = stream !== undefined && (isAsked || !stream.isTTY)
  const text = isRead ? await readStreamText(stream, { maxBytes: longestInput, signal }) : ''
  const statements = statementsIn(text)
  if (statements.length > 0) return statements
  throw new UsageError({
    what: 'the query is missing',
    next: 'give it in quotes, as in muster sql "show all tables"; on a terminal, without options, muster sql asks for queries',
  })
}

interface SqlRequest {
  readonly sql: string
  readonly form: AnswerForm
  readonly limit: number | undefined
  /** Whether the query is as of a day. */
  readonly needsHistory: boolean
}

const forms = ['csv', 'spreadsheet', 'ndjson'] as const

function formOf({ json }: CommandContext, options: Options): AnswerForm {
  const chosen = forms.filter(form => flagOption(options, form))
  const isFile = textOption(options, 'parquet') !== undefined
  if (chosen.length + Number(json && !isFile) + Number(isFile) > 1)
    throw new UsageError({
      what: '--json, --csv, --spreadsheet, --ndjson and --parquet exclude each other',
      next: 'give one of them',
    })
  return json ? 'json' : (chosen[0] ?? 'table')
}

async function print(context: CommandContext, request: SqlRequest): Promise<void> {
  const { sql, form, limit } = request
  const session = await openForQuery(context.stored(), context, request)
  try {
    const { signal } = context
    if (form === 'table') printAnswerTable(context, await session.query(sql, limit ?? rowsOfTable, signal))
    else await printRows(context, form, session.pieces(sql, limit ?? everyRow, signal))
  } finally {
    await session.close()
  }
}

/** A query reads personal data only if it names one of the schemas that hold some. */
const mayBePersonal = (sql: string): boolean => /pii|history|ops/i.test(sql)

async function writeParquet(
  context: CommandContext,
  { sql, limit, needsHistory }: SqlRequest,
  { file, isForced }: { readonly file: string; readonly isForced: boolean },
): Promise<void> {
  const session = await openForQuery(context.stored(), context, { needsHistory })
  try {
    const guarded = guardedBy(context)
    const answer = session.pieces(sql, limit ?? everyRow, context.signal)
    const place = resolve(context.cwd, file)
    // Listed before it is written, so that a later `forget` reports the file.
    if (mayBePersonal(sql))
      recordOutput(stemOf(context.stored()), { place, made: 'answer', includesPii: true })
    const rows = await writeAnswerFile(place, answer, { guarded, isForced })
    if (context.json) printJson(context, { file, rows })
    else context.stdout.write(`${file}: ${counted(rows, 'row')}\n`)
  } finally {
    await session.close()
  }
}
