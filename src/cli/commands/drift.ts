/** `muster drift`: lists what the service sends and the contract does not have, and accepts it. */
import { openMade, openToRead } from '../../app/connection/warehouse.ts'
import { policyFor } from '../../config/fields.ts'
import { counted } from '../../lib/counted.ts'
import { clockTime } from '../../lib/dates.ts'
import { UsageError } from '../../lib/errors.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import { acceptDrift, type DriftEntry, readDrift } from '../../state/evidence/accepted-drift.ts'
import { migrate } from '../../state/migrate.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { resourceNames } from '../run-command.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

async function list(context: CommandContext): Promise<0> {
  const connection = context.stored()
  const { handle: engine } = await openToRead(connection, context, { threads: 1 })
  try {
    const found = (await readDrift(engine)).map(row => ({
      ...row,
      policy: policyFor(connection.schemaPolicy, row.resource),
    }))
    if (context.json) printJson(context, found)
    else if (found.length === 0) printLine(context, 'the service sends what the contract says')
    else
      printTable(
        context,
        ['resource', 'field', 'difference', 'type', 'first read', 'policy', 'accepted'],
        found.map(row => [
          ...[row.resource, row.path, row.kind, row.example_type, clockTime(row.seen_at), row.policy],
          row.accepted_at === null ? (row.policy === 'evolve' ? '' : 'waits') : clockTime(row.accepted_at),
        ]),
      )
    return 0
  } finally {
    await engine.close()
  }
}

/** Throws UsageError for a field that the resource has no difference in. */
function chosen(all: readonly DriftEntry[], resource: string, paths: readonly string[]): DriftEntry[] {
  const own = all.filter(row => row.resource === resource)
  const unknown = paths.find(path => own.every(row => row.path !== path))
  if (unknown !== undefined)
    throw new UsageError({
      what: `${resource} has no difference in ${unknown}`,
      next: own.length === 0 ? 'see muster drift' : choiceOf(unknown, [...new Set(own.map(row => row.path))]),
    })
  const wanted = own.filter(({ path }) => paths.length === 0 || paths.includes(path))
  return wanted.filter(row => row.accepted_at === null)
}

async function accept(context: CommandContext, names: readonly string[]): Promise<0> {
  const [resource, ...paths] = names
  if (resource === undefined)
    throw new UsageError({ what: 'nothing says what to accept', next: 'muster drift accept timesheets' })
  resourceNames([resource])
  const engine = await openMade(context.stored())
  try {
    const at = new Date(context.clock.now()).toISOString()
    await migrate(engine, at)
    const rows = chosen(await readDrift(engine), resource, paths)
    await acceptDrift(engine, rows, at)
    const accepted = rows.map(({ path, kind }) => ({ resource, path, kind }))
    if (context.json) printJson(context, accepted)
    else {
      for (const { path, kind } of accepted) printLine(context, `accepted: ${resource}.${path}, ${kind}`)
      printLine(context, `${counted(accepted.length, 'difference')} accepted`)
    }
    return 0
  } finally {
    await engine.close()
  }
}

export const command: CommandModule = {
  arguments: [
    { name: '[action]', summary: 'accept, or nothing to list', choices: ['accept'] },
    { name: '[names...]', summary: 'with accept: a resource, and its fields; all of them when left out' },
  ],
  notes: [
    'With schemaPolicy freeze a sync of the resource is incomplete while a difference waits. Its rows load as always.',
  ],
  examples: ['muster drift', 'muster drift accept timesheets', 'muster drift accept timesheets payBand'],
  run: (context, [action, ...names]) => (action === undefined ? list(context) : accept(context, names)),
}
