/** The way between the stage's DuckDB and PostgreSQL: CSV in a private folder, streamed through COPY, gone at once. */
import { createReadStream, createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { isAlive } from '../../lib/is-alive.ts'
import type { Engine, Insertion, TemporaryTable, Transfer, TypedColumn } from '../engine.ts'
import { quoteName, quoteNames, quoteText } from '../sql-text.ts'

/** Read from the file at once: a larger piece saves calls, and two of them fit in any cache. */
const pieceBytes = 524_288

export interface Transfers {
  send(items: readonly (Insertion | TemporaryTable)[]): Transfer
  receive(transfer: Transfer): Promise<void>
  sendToStage(name: string, columns: readonly TypedColumn[], select: string): Promise<void>
  /** Removes what is left of a file that a failure kept from being removed. */
  close(): void
}

interface Ends {
  readonly stage: Engine
  /** Where the files lie for the moment they live. */
  readonly folder: string
  readonly client: () => Promise<pg.Client>
  /** The statement with its schemas as they are called here. */
  readonly spell: (sql: string) => string
}

/** Texts compare byte by byte, as in DuckDB, whatever the database's own order is. */
const typed = ({ name, sql }: TypedColumn): string =>
  `${quoteName(name)} ${sql}${sql === 'text' ? ' collate "C"' : ''}`

/** DuckDB's columns for reading back what PostgreSQL wrote. */
const struct = (columns: readonly TypedColumn[]): string =>
  `{${columns.map(({ name, sql }) => `${quoteText(name)}: ${quoteText(sql)}`).join(', ')}}`

/** Folders of this process. */
const ours = new Set<string>()

/** Only its owner may enter, so the files in it need no mode of their own. What killed processes left goes. */
function ownFolder(parent: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(parent)) {
    const pid = Number(/^transfers-(\d+)-/.exec(name)?.[1] ?? 0)
    const isRelic = pid > 0 && (pid === process.pid ? !ours.has(join(parent, name)) : !isAlive(pid))
    if (isRelic) rmSync(join(parent, name), { recursive: true, force: true })
  }
  const folder = mkdtempSync(join(parent, `transfers-${process.pid}-`))
  ours.add(folder)
  return folder
}

class FileTransfers implements Transfers {
  readonly #ends: Ends
  #folder: string | undefined
  #next = 0

  constructor(ends: Ends) {
    this.#ends = ends
  }

  #file(): string {
    this.#folder ??= ownFolder(this.#ends.folder)
    this.#next += 1
    return join(this.#folder, `${this.#next}.csv`)
  }

  async #write(item: Insertion | TemporaryTable): Promise<string> {
    const { stage } = this.#ends
    if ('make' in item && item.make) await stage.run(item.make)
    const file = this.#file()
    const columns = 'select' in item ? item.columns : item.columns.map(({ name }) => name)
    const select = 'select' in item ? item.select : `select ${quoteNames(columns)} from ${item.name}`
    // An index of keys takes them faster in their order: 200,000 rows with hashes for keys in a tenth less time.
    const order = 'select' in item ? ' order by 1' : ''
    // A line that is \\. and nothing else ends the data for older servers; quoted it does not.
    const quoting = columns.length === 1 ? ', force_quote *' : ''
    await stage.run(`copy (${select}${order}) to ${quoteText(file)} (format csv, header false${quoting})`)
    return file
  }

  async #read(file: string, item: Insertion | TemporaryTable): Promise<void> {
    const client = await this.#ends.client()
    const names = 'select' in item ? item.columns : item.columns.map(({ name }) => name)
    const table = 'select' in item ? item.table : item.name
    if (!('select' in item))
      await client.query(`create temp table ${table} (${item.columns.map(typed).join(', ')}) on commit drop`)
    const sql = `copy ${table} (${quoteNames(names)}) from stdin (format csv)`
    await pipeline(
      createReadStream(file, { highWaterMark: pieceBytes }),
      client.query(copyFrom(this.#ends.spell(sql))),
    )
    rmSync(file, { force: true })
    // Without it a join hashes all that the warehouse holds instead of these: 130 ms instead of 40 for 16,400 among 100,000 rows.
    if ('joinedBy' in item && item.joinedBy)
      await client.query(`analyze ${table} (${quoteNames([item.joinedBy])})`)
  }

  /** While the server takes one table, DuckDB writes the next: they are two processes. */
  send(items: readonly (Insertion | TemporaryTable)[]): Transfer {
    const files: Promise<string>[] = []
    for (const item of items) {
      const before = files.at(-1) ?? Promise.resolve()
      files.push(before.then(() => this.#write(item)))
    }
    const sent = Promise.all(files).then(() => undefined)
    // A failed file is reported by `receive`, or by the caller that waits for all of them.
    sent.catch(() => undefined)
    const discard = (): void => {
      for (const file of files) void file.then(path => rmSync(path, { force: true })).catch(() => undefined)
    }
    return { items, files, sent, discard }
  }

  async receive({ items, files }: Transfer): Promise<void> {
    for (const [index, item] of items.entries()) await this.#read((await files[index]) ?? '', item)
  }

  async sendToStage(name: string, columns: readonly TypedColumn[], select: string): Promise<void> {
    const client = await this.#ends.client()
    const file = this.#file()
    try {
      const rows = client.query(copyTo(this.#ends.spell(`copy (${select}) to stdout (format csv)`)))
      await pipeline(rows, createWriteStream(file))
      await this.#ends.stage.run(
        `create or replace temp table ${name} as select * from read_csv(${quoteText(file)},
         columns = ${struct(columns)}, header = false, auto_detect = false, allow_quoted_nulls = false, delim = ',', quote = '"', escape = '"')`,
      )
    } finally {
      rmSync(file, { force: true })
    }
  }

  close(): void {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
    this.#folder = undefined
  }
}

export const transfersBetween = (ends: Ends): Transfers => new FileTransfers(ends)
