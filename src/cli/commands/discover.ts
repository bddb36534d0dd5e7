/** `muster discover`: takes ids of records from a file, for the next sync to read. */
import { basename, resolve } from 'node:path'
import { openToWrite } from '../../app/connection/warehouse.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { remember } from '../../state/by-id/discovered.ts'
import { migrate } from '../../state/migrate.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { readIdList, requireReadById } from '../id-list.ts'
import { printJson, printLine } from '../terminal/output.ts'

export const command: CommandModule = {
  name: 'discover',
  summary: 'take ids of requisitions, credit notes and the like from a file; the next sync reads them',
  arguments: [
    {
      name: '<resource>',
      summary: 'such as credit-notes; left out when each line of the file is resource,id',
    },
    { name: '[file]', summary: 'one id a line, or CSV' },
  ],
  examples: [
    'muster discover credit-notes notes.txt',
    'muster discover known-ids.csv',
    'muster discover purchase-orders orders.csv --json',
  ],
  async run(context, args) {
    const [first = '', second] = args
    const file = second ?? first
    const resource = second === undefined ? undefined : requireReadById(first)
    const { ids, refused } = readIdList(resolve(context.cwd, file), file, resource)
    if (ids.length === 0)
      throw new UsageError({ what: `${file} has no ids in it`, next: 'write one id a line, or resource,id' })
    const found = await note(context, ids, basename(file))
    print(context, { ids: ids.length, new: found, refusedLines: refused })
    return 0
  },
}

async function note(
  context: CommandContext,
  ids: ReturnType<typeof readIdList>['ids'],
  source: string,
): Promise<number> {
  const engine = await openToWrite(context.connection())
  try {
    const at = new Date(context.clock.now()).toISOString()
    await migrate(engine, at)
    const seen = ids.map(({ resource, id }) => ({ resource, recordId: id, source, at }))
    return await engine.transaction(engine => remember(engine, seen))
  } finally {
    await engine.close()
  }
}

interface Noted {
  readonly ids: number
  readonly new: number
  readonly refusedLines: readonly number[]
}

function print(context: CommandContext, noted: Noted): void {
  if (context.json) {
    printJson(context, noted)
    return
  }
  const { ids, new: found, refusedLines } = noted
  const [first] = refusedLines
  const refused =
    first === undefined
      ? ''
      : `; ${counted(refusedLines.length, 'line')} without a valid id, the first is line ${first}`
  printLine(
    context,
    `${counted(ids, 'id')} read, ${formatNumber(found)} of them new${refused}; muster sync reads them`,
  )
}
