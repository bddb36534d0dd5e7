/** A file of ids, one a line or CSV, read one after the other: millions of them are never in memory at once. */

import { catalogue } from '../../contract/catalogue.ts'
import { isRecordId } from '../../contract/fields/record-id.ts'
import { UsageError } from '../../lib/errors.ts'
import { shortKey } from '../../lib/field-path.ts'
import { readInputUtf8 } from '../../lib/input-file.ts'
import { choiceOf } from '../../lib/text/nearest.ts'
import { spreadsheetDamage } from '../../lib/text/spreadsheet.ts'
import { type CsvRow, csvRows, NotCsv } from './csv-rows.ts'

interface ListedId {
  readonly resource: string
  readonly id: string
}

interface RefusedLine {
  /** From 1. */
  readonly refusedLine: number
  /** What is seen of the reason; goes on after "the line". */
  readonly why: string
}

interface ListRules {
  /** The file as typed. */
  readonly shown: string
  /** Of every line; without it each line names its own. */
  readonly resource: string | undefined
}

export interface IdList {
  readonly shown: string
  /** From the beginning at each call. Throws UsageError, or the reason of the signal. */
  read(signal: AbortSignal): AsyncGenerator<ListedId | RefusedLine>
}

/** Of some kind of key. */
const names = catalogue.filter(({ keys }) => Object.values(keys).includes('by id')).map(({ name }) => name)

/** Throws UsageError for a name that is none of a resource. */
export function requireReadById(resource: string, where?: string): string {
  if (names.includes(resource)) return resource
  throw new UsageError({
    what: resource === '' ? 'no resource is named' : `no resource ${shortKey(resource)} is read by id`,
    ...(where !== undefined && { where }),
    next: choiceOf(resource, names),
  })
}

/** Bytes of a file with some two million ids. */
const largestList = 64 * 1_048_576

/** Throws UsageError. */
export function openIdList(file: string, rules: ListRules): IdList {
  const bytes = readInputUtf8(file, { mostBytes: largestList })
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

interface Columns {
  readonly id: number
  readonly resource: number
}

function columnsOf(first: readonly string[], { shown, resource }: ListRules): Columns {
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
  let columns: Columns | undefined
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
