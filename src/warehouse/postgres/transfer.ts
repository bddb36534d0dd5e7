/** Transfers rows between the stage's DuckDB and PostgreSQL: CSV files in a private folder, streamed through COPY. */

import { createReadStream, createWriteStream, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { asPattern } from '../../lib/input-file.ts'
import { makeScratch, type Scratch } from '../../temporary/scratch.ts'
import type { Engine, Insertion, TemporaryTable, Transfer, TypedColumn } from '../engine.ts'
import { quoteName, quoteNames, quoteText } from '../sql-text.ts'

/** Bytes read from a file at a time: larger pieces save calls, and two of this size fit in any cache. */
const pieceBytes = 524_288

/** Both ends of a transfer. */
interface Ends {
  readonly stage: Engine
  readonly client: () => Promise<pg.Client>
  /** The statement with the schema names of this server. */
  readonly withPrefix: (sql: string) => string
}

/** Compares texts byte by byte, as DuckDB does, whatever the collation of the database. */
const typed = ({ name, sql }: TypedColumn): string =>
  `${quoteName(name)} ${sql}${sql === 'text' ? ' collate "C"' : ''}`

/** DuckDB's column list for reading PostgreSQL's CSV. */
const struct = (columns: readonly TypedColumn[]): string =>
  `{${columns.map(({ name, sql }) => `${quoteText(name)}: ${quoteText(sql)}`).join(', ')}}`

/** Names for the files of one engine, in a folder that is created with the first file and removed with the engine. */
export class TransferFiles {
  readonly #beside: string
  #folder: Scratch | undefined
  #count = 0

  /** `beside` is the parent of its folder. */
  constructor(beside: string) {
    this.#beside = beside
  }

  next(): string {
    this.#folder ??= makeScratch(this.#beside)
    this.#count += 1
    return join(this.#folder.path, `${this.#count}.csv`)
  }

  /** Also removes files that a failure left behind. */
  remove(): void {
    this.#folder?.remove()
    this.#folder = undefined
  }
}

const namesOf = (item: Insertion | TemporaryTable): readonly string[] =>
  'select' in item ? item.columns : item.columns.map(({ name }) => name)

async function write(stage: Engine, file: string, item: Insertion | TemporaryTable): Promise<string> {
  if ('make' in item && item.make) await stage.run(item.make)
  const names = namesOf(item)
  // Sorted, as an index inserts sorted keys faster: 200,000 rows with hash keys take 10% less time.
  const select =
    'select' in item ? `${item.select} order by 1` : `select ${quoteNames(names)} from ${item.name}`
  // On older servers a line with only \\. ends the data, unless it is quoted.
  const quoting = names.length === 1 ? ', force_quote *' : ''
  await stage.run(`copy (${select}) to ${quoteText(file)} (format csv, header false${quoting})`)
  return file
}

async function read(ends: Ends, file: string, item: Insertion | TemporaryTable): Promise<void> {
  const client = await ends.client()
  const table = 'select' in item ? item.table : item.name
  if (!('select' in item))
    await client.query(`create temp table ${table} (${item.columns.map(typed).join(', ')}) on commit drop`)
  const sql = `copy ${table} (${quoteNames(namesOf(item))}) from stdin (format csv)`
  await pipeline(
    createReadStream(file, { highWaterMark: pieceBytes }),
    client.query(copyFrom(ends.withPrefix(sql))),
  )
  rmSync(file, { force: true })
  // Without statistics a join hashes the stored table instead of this one: 130 ms instead of 40 ms for 16,400 of 100,000 rows.
  if ('joinedBy' in item && item.joinedBy)
    await client.query(`analyze ${table} (${quoteNames([item.joinedBy])})`)
}

/** DuckDB writes one table while the server receives the previous one. */
export function sendAsFiles(
  stage: Engine,
  names: TransferFiles,
  items: readonly (Insertion | TemporaryTable)[],
): Transfer {
  const files: Promise<string>[] = []
  for (const item of items) {
    const before = files.at(-1) ?? Promise.resolve()
    files.push(before.then(() => write(stage, names.next(), item)))
  }
  const sent = Promise.all(files).then(() => undefined)
  // A file that could not be written is reported by `receiveFiles`, or to the caller that awaits `sent`.
  sent.catch(() => undefined)
  const discard = (): void => {
    // The failure has been reported already, and there is no file to remove.
    for (const file of files) file.then(path => rmSync(path, { force: true })).catch(() => undefined)
  }
  return { items, files, sent, discard }
}

/** Inside a transaction: its temporary tables end with it. */
export async function receiveFiles(ends: Ends, { items, files }: Transfer): Promise<void> {
  for (const [index, item] of items.entries()) await read(ends, (await files[index]) ?? '', item)
}

export async function sendToStage(
  ends: Ends,
  files: TransferFiles,
  { name, columns, select }: TemporaryTable & { readonly select: string },
): Promise<void> {
  const client = await ends.client()
  const file = files.next()
  try {
    const rows = client.query(copyTo(ends.withPrefix(`copy (${select}) to stdout (format csv)`)))
    await pipeline(rows, createWriteStream(file))
    await ends.stage.run(
      `create or replace temp table ${name} as select * from read_csv(${quoteText(asPattern(file))},
       columns = ${struct(columns)}, header = false, auto_detect = false, allow_quoted_nulls = false, delim = ',', quote = '"', escape = '"')`,
    )
  } finally {
    rmSync(file, { force: true })
  }
}
