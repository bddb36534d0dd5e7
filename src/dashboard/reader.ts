/** Reads marts for the dashboard. A file is closed again when nobody asks, so that a sync can write it. */
import { type Clock, sleepUnlessAborted } from '../lib/clock.ts'
import type { Engine, Value } from '../warehouse/engine.ts'
import type { MartColumns } from './statement.ts'

export interface Source {
  open(): Promise<Engine>
  /** Changes whenever another state of the warehouse would be opened; the same text for a server. */
  stamp(): string
  /** Milliseconds without a question after which it is closed; undefined keeps it open. */
  readonly idleMs?: number
}

interface Opened {
  readonly engine: Engine
  readonly columns: MartColumns
  readonly stamp: string
}

/** Rows of an answer are small; those of 300 statements fit a few megabytes. */
const mostKept = 300

async function columnsOf(engine: Engine): Promise<MartColumns> {
  const rows = await engine.rows<{ mart: string; name: string }>(
    `select table_name as mart, column_name as name from information_schema.columns
     where table_schema = $1 and table_catalog = current_database() order by table_name, ordinal_position`,
    [engine.schema('mart')],
  )
  const found = new Map<string, Set<string>>()
  for (const { mart, name } of rows) {
    const columns = found.get(mart) ?? new Set()
    found.set(mart, columns.add(name))
  }
  return found
}

/** What a question gets: statements run one after the other on one state of the file. */
export interface Marts {
  readonly columns: MartColumns
  rows(sql: string, values?: readonly Value[]): Promise<Record<string, unknown>[]>
}

export class MartReader {
  readonly #source: Source
  readonly #clock: Clock
  #opened: Promise<Opened> | undefined
  #asking = 0
  #idle = new AbortController()
  /** Answers of the state that is open; a file that does not change gives the same ones. */
  readonly #kept = new Map<string, Record<string, unknown>[]>()

  constructor(source: Source, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  async #open(): Promise<Opened> {
    const stamp = this.#source.stamp()
    const engine = await this.#source.open()
    try {
      return { engine, columns: await columnsOf(engine), stamp }
    } catch (error) {
      await engine.close()
      throw error
    }
  }

  async #current(): Promise<Opened> {
    const opened = await this.#opened
    if (opened && opened.stamp !== this.#source.stamp() && this.#asking === 1) await this.close()
    const opening = this.#opened ?? this.#open()
    this.#opened = opening
    try {
      return await opening
    } catch (error) {
      if (this.#opened === opening) this.#opened = undefined
      throw error
    }
  }

  async #rows({ engine }: Opened, sql: string, values: readonly Value[]): Promise<Record<string, unknown>[]> {
    const key = JSON.stringify([sql, values])
    const kept = this.#kept.get(key)
    if (kept) return kept
    const rows = await engine.rows<Record<string, unknown>>(sql, values)
    // A server changes without a sign; what is relative to now is old after a while in a file too.
    if (this.#source.idleMs !== undefined && this.#kept.size < mostKept) this.#kept.set(key, rows)
    return rows
  }

  /** Throws MusterError when the warehouse cannot be read now. */
  async read<Result>(work: (marts: Marts) => Promise<Result>): Promise<Result> {
    this.#asking += 1
    this.#idle.abort()
    try {
      const opened = await this.#current()
      return await work({
        columns: opened.columns,
        rows: (sql, values = []) => this.#rows(opened, sql, values),
      })
    } finally {
      this.#asking -= 1
      if (this.#asking === 0) void this.#closeWhenIdle()
    }
  }

  async #closeWhenIdle(): Promise<void> {
    const { idleMs } = this.#source
    if (idleMs === undefined) return
    const idle = new AbortController()
    this.#idle = idle
    await sleepUnlessAborted(this.#clock, idleMs, idle.signal)
    if (!idle.signal.aborted && this.#asking === 0) await this.close()
  }

  async close(): Promise<void> {
    this.#idle.abort()
    const opened = this.#opened
    this.#opened = undefined
    this.#kept.clear()
    if (opened) await (await opened).engine.close()
  }
}
