/** `muster publish`: writes a fresh copy for analysts, without personal data, beside the working file. */

import { requireRoom } from '../../app/connection/room.ts'
import { duckdbFile, openMade, toleranceOf } from '../../app/connection/warehouse.ts'
import { counted } from '../../lib/counted.ts'
import { programVersion } from '../../lib/package.ts'
import { type Published, publish, requireTolerable, requireWhole } from '../../publish/publish.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type CommandModule, flagOption, oneOf, textOption } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { notWholeLines } from '../reports/not-whole.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

/** Readers of a server never wait for a writer, so there is nothing to copy; whether it is whole is told all the same. */
async function notNeeded(context: CommandContext, requiresWhole: boolean): Promise<0> {
  await withEngine(context, async engine => {
    await requireTolerable(engine)
    if (requiresWhole) await requireWhole(engine)
  })
  const why = 'PostgreSQL needs no published copy: star and mart can be read there at any time'
  if (context.json) printJson(context, { published: false, why })
  else printLine(context, why)
  return 0
}

async function withEngine<Result>(
  context: CommandContext,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const connection = context.connection()
  requireRoom(connection)
  const engine = await openMade(connection)
  try {
    return await work(engine)
  } finally {
    await engine.close()
  }
}

function print(context: CommandContext, published: Published): void {
  if (context.json) {
    printJson(context, published)
    return
  }
  const filled = published.tables.filter(({ rows }) => rows > 0)
  if (context.globals.verbose)
    printTable(
      context,
      ['table', 'rows'],
      filled.map(({ name, rows }) => [name, rows]),
    )
  const rows = filled.reduce((sum, table) => sum + table.rows, 0)
  const parts = `${published.tables.length} tables, ${published.views.length} views, ${counted(rows, 'row')}`
  for (const line of notWholeLines(published.notWhole)) printLine(context, line)
  printLine(context, `published ${parts}, ${(published.bytes / 1e6).toFixed(1)} MB: ${published.file}`)
}

export const command: CommandModule = {
  options: [
    {
      flags: '--require <what>',
      summary: 'complete: refuse while a resource is not whole, and keep the previous copy',
      parse: oneOf('complete'),
    },
    { flags: '--force', summary: 'also replace a file in its place that is no published copy' },
  ],
  examples: [
    'muster publish',
    'muster publish --require complete',
    'muster publish --connection acme --json',
  ],
  run: (context, _, options) => {
    const requiresWhole = textOption(options, 'require') === 'complete'
    if (duckdbFile(context.connection()) === undefined) return notNeeded(context, requiresWhole)
    return withEngine(context, async (engine): Promise<0> => {
      const { clock, rng } = context
      const tolerance = toleranceOf(context.connection())
      const isForced = flagOption(options, 'force')
      print(
        context,
        await publish({ engine, clock, rng, version: programVersion, requiresWhole, isForced, tolerance }),
      )
      return 0
    })
  },
}
