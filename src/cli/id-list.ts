/** Ids of records in a file: one a line, or CSV with the columns resource and id. */
import { readFileSync } from 'node:fs'
import { CsvError, parse } from 'csv-parse/sync'
import { choiceOf } from '../config/nearest.ts'
import { byIdResources } from '../contract/catalogue.ts'
import { isSafeId } from '../contract/fields/record-id.ts'
import { UsageError } from '../lib/errors.ts'

export interface ListedId {
  readonly resource: string
  readonly id: string
}

export interface IdList {
  readonly ids: readonly ListedId[]
  /** Numbers of the lines without a valid id, from 1. */
  readonly refused: readonly number[]
}

const names = byIdResources.map(({ name }) => name)

export function requireReadById(resource: string, where?: string): string {
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

function textOf(file: string, shown: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not there' : 'cannot be read as UTF-8'
    throw new UsageError({ what: `${shown} ${why}`, next: 'check the name of the file' })
  }
}

const isHeading = (cells: readonly string[]): boolean => cells.some(cell => /^(id|resource)$/i.test(cell))

/** `resource` is the resource of every line; without it each line names its own. `shown` is the file as typed. */
export function readIdList(file: string, shown: string, resource?: string): IdList {
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
