/** `muster status` for a reader of a server, who has no rights to ops: what the marts tell of themselves. */
import { MusterError } from '../../lib/errors.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

interface Health {
  readonly resource: string
  readonly live_rows: number | null
  readonly last_read_at: string | null
  readonly is_whole: boolean | null
  readonly not_whole_reason: string | null
  readonly failed_checks: number | null
}

const columns = ['resource', 'records', 'last read', 'complete', 'failed checks'] as const

const answer = (value: boolean | null): string => (value === null ? 'not known' : value ? 'yes' : 'no')

/** Throws MusterError where that mart is not built, or not for this user. */
async function readHealth(engine: Engine): Promise<Health[]> {
  const [mart] = await engine.rows(
    `select table_name from information_schema.tables where table_schema = $1 and table_name = 'data_health'`,
    [engine.schema('mart')],
  )
  if (mart)
    return engine.rows<Health>(
      `select resource, live_rows, last_read_at, is_whole, not_whole_reason, failed_checks
       from mart.data_health order by resource`,
    )
  throw new MusterError({
    what: 'this user may read neither the state of the warehouse nor mart.data_health',
    where: engine.location,
    next: 'run muster build, or connect as the loader or the owner',
  })
}

export async function printHealth(context: CommandContext, engine: Engine): Promise<void> {
  const rows = await readHealth(engine)
  if (context.json) {
    printJson(context, {
      file: engine.location,
      isPublished: true,
      from: 'mart.data_health',
      resources: rows,
    })
    return
  }
  printTable(
    context,
    columns,
    rows.map(one => [one.resource, one.live_rows, one.last_read_at, answer(one.is_whole), one.failed_checks]),
  )
  for (const { resource, not_whole_reason: why } of rows)
    if (why !== null) printLine(context, `${resource}: ${why}`)
  printLine(
    context,
    `from ${engine.schema('mart')}.data_health: the loader and the owner see runs and windows as well`,
  )
}
