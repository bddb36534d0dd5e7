/** `muster discover`: takes ids of records from a file, for the next sync to read. */
import { basename, resolve } from 'node:path'
import { requireRoom } from '../../app/connection/storage.ts'
import { openToWrite } from '../../app/connection/warehouse.ts'
import { type IdList, openIdList, requireReadById } from '../../app/id-list.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { CommandStopped, StatementInterrupted, stopWords, UsageError } from '../../lib/errors.ts'
import { type DiscoveredId, remember } from '../../state/by-id/discovered.ts'
import { migrate } from '../../state/migrate.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine } from '../terminal/output.ts'

export const command: CommandModule = {
  arguments: [
    {
      name: '<resource>',
      completes: 'resource',
      summary: 'such as credit-notes; leave it out if each line of the file is resource,id',
    },
    { name: '[file]', summary: 'one id per line, or CSV' },
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
    const list = openIdList(resolve(context.cwd, file), { shown: file, resource })
    // Counts before saving any id: a mistake in a line is reported with nothing changed.
    const counts = await countIds(list, context)
    if (counts.ids === 0)
      throw new UsageError({ what: `${file} has no ids in it`, next: 'write one id a line, or resource,id' })
    const found = await note(context, list, counts.ids)
    print(context, { ...counts, new: found })
    return 0
  },
}

/** Ids in one transaction; those saved before a signal to stop stay. */
const idsAtOnce = 20_000
/** Milliseconds from one line of progress to the next. */
const progressMs = 5_000

/** Throws Stopped, which says how far it got. */
async function countIds(list: IdList, { signal }: CommandContext): Promise<IdListCounts> {
  const refusedLines: number[] = []
  let [ids, refused, why] = [0, 0, '']
  try {
    for await (const one of list.read(signal)) {
      if ('id' in one) ids += 1
      else {
        refused += 1
        why ||= one.why
        if (refusedLines.length < maxToldLines) refusedLines.push(one.refusedLine)
      }
    }
  } catch (error) {
    throw stoppedAt(error, signal, 'no id was saved; run the command again')
  }
  return { ids, refused, refusedLines, ...(why !== '' && { why }) }
}

const stoppedAt = (error: unknown, signal: AbortSignal, next: string): unknown =>
  error === signal.reason || (signal.aborted && error instanceof StatementInterrupted)
    ? new CommandStopped({ what: stopWords(signal), next })
    : error

async function note(context: CommandContext, list: IdList, ids: number): Promise<number> {
  requireRoom(context.connection())
  const engine = await openToWrite(context.connection())
  const at = new Date(context.clock.now()).toISOString()
  let noted = 0
  let shownAt = context.clock.now()
  let found = 0
  try {
    await migrate(engine, at)
    for await (const seen of batchesOf(list, at, context.signal)) {
      found += await engine.transaction(engine => remember(engine, seen))
      noted += seen.length
      if (context.clock.now() - shownAt < progressMs) continue
      shownAt = context.clock.now()
      context.notice(`discover  ${formatNumber(noted)} of ${counted(ids, 'id')}`)
    }
    return found
  } catch (error) {
    const rest = `${formatNumber(noted)} of ${counted(ids, 'id')} are saved; run the command again for the others`
    throw stoppedAt(error, context.signal, rest)
  } finally {
    await engine.close()
  }
}

async function* batchesOf(list: IdList, at: string, signal: AbortSignal): AsyncGenerator<DiscoveredId[]> {
  let batch: DiscoveredId[] = []
  for await (const one of list.read(signal)) {
    if (!('id' in one)) continue
    batch.push({ resource: one.resource, recordId: one.id, source: basename(list.shown), at })
    if (batch.length < idsAtOnce) continue
    signal.throwIfAborted()
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

interface IdListCounts {
  readonly ids: number
  /** Lines without a valid id. */
  readonly refused: number
  /** The first refused lines, counted from 1. */
  readonly refusedLines: readonly number[]
  /** Why the first line was refused. */
  readonly why?: string
}

const maxToldLines = 1000

interface NotedIds extends IdListCounts {
  readonly new: number
}

function print(context: CommandContext, noted: NotedIds): void {
  if (context.json) {
    printJson(context, noted)
    return
  }
  const { ids, new: found, refused: count, refusedLines, why } = noted
  const [first] = refusedLines
  const refused =
    first === undefined
      ? ''
      : `; ${counted(count, 'line')} without a valid id, the first is line ${first}, which ${why}`
  printLine(
    context,
    `${counted(ids, 'id')} read, ${formatNumber(found)} of them new${refused}; muster sync reads them`,
  )
}
