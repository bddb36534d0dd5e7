/** Reads a file of ids, one per line or CSV, one by one: millions of ids are never in memory at once. */

import { catalogue } from '../contract/catalogue.ts'
import { isRecordId } from '../contract/fields/record-id.ts'
import { UsageError } from '../lib/errors.ts'
import { readInputUtf8 } from '../lib/input-file.ts'
import { shortKey } from '../lib/text/field-path.ts'
import { choiceOf } from '../lib/text/nearest.ts'
import { spreadsheetDamage } from '../lib/text/spreadsheet.ts'
import { type CsvRow, csvRows, NotCsv } from './csv-rows.ts'

interface ListedId {
  readonly resource: string
  readonly id: string
}

interface RefusedLine {
  /** Line number, from 1. */
  readonly refusedLine: number
  /** The reason, without the value; continues after "the line". */
  readonly why: string
}

interface ListRules {
  /** The file as typed. */
  readonly shown: string
  /** The resource of all lines; without it each line names its own. */
  readonly resource: string | undefined
}

export interface IdList {
  readonly shown: string
  /** Starts from the beginning at each call. Throws UsageError, or the signal's reason. */
  read(signal: AbortSignal): AsyncGenerator<ListedId | RefusedLine>
}

/** Resources that some kind of key reads by id. */
const names = catalogue.filter(({ keys }) => Object.values(keys).includes('by id')).map(({ name }) => name)

/** Throws UsageError for a name that is not a resource read by id. */
export function requireReadById(resource: string, where?: string): string {
  if (names.includes(resource)) return resource
  throw new UsageError({
    what: resource === '' ? 'no resource is named' : `no resource ${shortKey(resource)} is read by id`,
    ...(where !== undefined && { where }),
    next: choiceOf(resource, names),
  })
}

/** Maximum bytes: about two million ids. */
const largestList = 64 * 1_048_576

/** Throws UsageError. */
export function openIdList(file: string, rules: ListRules): IdList {
  const bytes = readInputUtf8(file, { maxBytes: largestList })
  if (Buffer.isBuffer(bytes))
    return { shown: rules.shown, read: signal => listed(csvOf(bytes, rules.shown, signal), rules) }
  const next = bytes.why.startsWith('has more')
    ? 'split it into several files'
    : 'name a file of ids in UTF-8'
  throw new UsageError({ what: `${rules.shown} ${bytes.why}`, next })
}

async function* csvOf(bytes: Buffer, shown: string, signal: AbortSignal): AsyncGenerator<CsvRow> {
  try {
    yield* csvRows(bytes, { trim: true, skipsEmptyLines: true, signal })
  } catch (error) {
    if (!(error instanceof NotCsv)) throw error
    throw new UsageError({
      what: `${shown} ${error.message.replace('is not CSV', 'is not a list of ids')}`,
      next: 'write one id a line, or resource,id',
    })
  }
}

const isHeading = (cells: readonly string[]): boolean => cells.some(cell => /^(id|resource)$/i.test(cell))

interface IdListColumns {
  readonly id: number
  readonly resource: number
}

function columnsOf(first: readonly string[], { shown, resource }: ListRules): IdListColumns {
  if (!isHeading(first)) return { id: resource === undefined ? 1 : 0, resource: 0 }
  const heading = first.map(cell => cell.toLowerCase())
  const id = heading.indexOf('id')
  if (id < 0)
    throw new UsageError({ what: `${shown} has no column id`, next: 'name a column id in its first line' })
  return { id, resource: heading.indexOf('resource') }
}

async function* listed(
  rows: AsyncGenerator<CsvRow>,
  rules: ListRules,
): AsyncGenerator<ListedId | RefusedLine> {
  let columns: IdListColumns | undefined
  for await (const { cells, line } of rows) {
    const isFirst = columns === undefined
    columns ??= columnsOf(cells, rules)
    if (isFirst && isHeading(cells)) continue
    const id = cells[columns.id] ?? ''
    const named = cells[columns.resource] ?? ''
    const resource = rules.resource ?? requireReadById(named, `${rules.shown} at line ${line}`)
    const why = spreadsheetDamage(id, 'code') ?? (isRecordId(id) ? undefined : 'is not an id')
    yield why === undefined ? { resource, id } : { refusedLine: line, why }
  }
}
