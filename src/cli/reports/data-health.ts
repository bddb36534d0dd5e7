/** Prints `muster status` for a reader of a server without rights to ops, from mart.data_health. */
import { MusterError } from '../../lib/errors.ts'
import { tablesIn } from '../../warehouse/catalogue.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

interface Health {
  readonly resource: string
  readonly live_rows: number | null
  readonly last_read_at: string | null
  readonly completeness: string
  readonly is_complete: boolean | null
  readonly incomplete_reason: string | null
  readonly failed_checks: number | null
}

const columns = ['resource', 'records', 'last read', 'completeness', 'failed checks'] as const

/** Throws MusterError if that mart is not built or this user may not read it. */
async function readHealth(engine: Engine): Promise<Health[]> {
  const marts = await tablesIn(engine, ['mart'])
  if (marts.some(({ name }) => name === 'data_health'))
    return engine.rows<Health>(
      `select resource, live_rows, last_read_at, completeness, is_complete, incomplete_reason, failed_checks
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
    rows.map(one => [one.resource, one.live_rows, one.last_read_at, one.completeness, one.failed_checks]),
  )
  for (const { resource, incomplete_reason: why } of rows)
    if (why !== null) printLine(context, `${resource}: ${why}`)
  printLine(
    context,
    `from ${engine.schema('mart')}.data_health: the loader and the owner see runs and windows as well`,
  )
}
