/** `muster discover`: takes ids of records from a file, for the next sync to read. */
import { basename, resolve } from 'node:path'
import { CsvError, parse } from 'csv-parse/sync'
import { requireRoom } from '../../app/connection/room.ts'
import { openToWrite } from '../../app/connection/warehouse.ts'
import { choiceOf } from '../../config/nearest.ts'
import { catalogue } from '../../contract/catalogue.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { UsageError } from '../../lib/errors.ts'
import { readInputText } from '../../lib/input-file.ts'
import { remember } from '../../state/by-id/discovered.ts'
import { migrate } from '../../state/migrate.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine } from '../terminal/output.ts'

export const command: CommandModule = {
  arguments: [
    {
      name: '<resource>',
      completes: 'resource',
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
  requireRoom(context.connection())
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

interface ListedId {
  readonly resource: string
  readonly id: string
}

interface IdList {
  readonly ids: readonly ListedId[]
  /** Numbers of the lines without a valid id, from 1. */
  readonly refused: readonly number[]
}

/** Of some kind of key. */
const names = catalogue.filter(({ keys }) => Object.values(keys).includes('by id')).map(({ name }) => name)

function requireReadById(resource: string, where?: string): string {
  if (names.includes(resource)) return resource
  throw new UsageError({
    what: resource === '' ? 'no resource is named' : `no resource ${resource} is read by id`,
    ...(where !== undefined && { where }),
    next: choiceOf(resource, names),
  })
}

/** The message of the parser is dropped, because it quotes the cell. */
function linesOf(text: string, shown: string): { record: string[]; info: { lines: number } }[] {
  try {
    return parse(text, {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      info: true,
    }) as never
  } catch (error) {
    const line = error instanceof CsvError && typeof error.lines === 'number' ? ` at line ${error.lines}` : ''
    throw new UsageError({
      what: `${shown} is not a list of ids${line}`,
      next: 'write one id a line, or resource,id',
    })
  }
}

/** Bytes of a file with some two million ids. */
const largestList = 64 * 1_048_576

function textOf(file: string, shown: string): string {
  const read = readInputText(file, { mostBytes: largestList })
  if (typeof read === 'string') return read
  throw new UsageError({ what: `${shown} ${read.why}`, next: 'name a file of ids in UTF-8' })
}

const isHeading = (cells: readonly string[]): boolean => cells.some(cell => /^(id|resource)$/i.test(cell))

/** `resource` is the resource of every line; without it each line names its own. `shown` is the file as typed. */
function readIdList(file: string, shown: string, resource?: string): IdList {
  const [first, ...others] = linesOf(textOf(file, shown), shown)
  if (!first) return { ids: [], refused: [] }
  const heading = isHeading(first.record) ? first.record.map(cell => cell.toLowerCase()) : undefined
  const idAt = heading ? heading.indexOf('id') : resource === undefined ? 1 : 0
  const resourceAt = heading ? heading.indexOf('resource') : 0
  if (idAt < 0)
    throw new UsageError({ what: `${shown} has no column id`, next: 'name a column id in its first line' })
  const ids: ListedId[] = []
  const refused: number[] = []
  for (const { record, info } of heading ? others : [first, ...others]) {
    const id = record[idAt] ?? ''
    const name = resource ?? requireReadById(record[resourceAt] ?? '', `${shown} at line ${info.lines}`)
    if (isSafeId(id)) ids.push({ resource: name, id })
    else refused.push(info.lines)
  }
  return { ids, refused }
}
