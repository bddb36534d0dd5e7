/** Reads marts for the dashboard. A file is closed again when nobody asks, so that a sync can write it. */
import { type Clock, elapsedOf, sleepUnlessAborted } from '../lib/clock.ts'
import type { Engine, Value } from '../warehouse/engine.ts'
import { quoteName } from '../warehouse/sql-text.ts'
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

/** An answer of a server is asked again after a minute: rights and policies may have changed as well as rows. */
const mostMs = 60_000

interface Kept {
  readonly rows: Record<string, unknown>[]
  readonly at: number
}

const martsIn = (sql: string): string[] => [
  ...new Set([...sql.matchAll(/\bmart\."?(\w+)/g)].map(([, name = '']) => name)),
]

/** A statement whose answer moves with the clock. */
const isOfNow = (sql: string): boolean => /\b(now\(|current_(date|timestamp))/i.test(sql)

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

/** When each mart was made, asked once for a page. */
type Made = Map<string, Promise<string | undefined>>

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
  /** Answers of one state: a file that is open does not change, and a mart of a server tells when it was made. */
  readonly #kept = new Map<string, Kept>()

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

  /** When the rows of a mart of a server were made; undefined for what a build did not make, and for no rows. */
  async #madeAt({ engine, columns }: Opened, mart: string): Promise<string | undefined> {
    if (!columns.get(mart)?.has('loaded_at')) return undefined
    const [row] = await engine.rows<{ at: string }>(
      `select cast(loaded_at as text) as at from mart.${quoteName(mart)} limit 1`,
    )
    return row?.at
  }

  /** The state that an answer to the statement is of; undefined where nothing tells it, so that the answer is not kept. */
  async #stateOf(opened: Opened, sql: string, made: Made): Promise<string | undefined> {
    // What is relative to now is old after a while in a file too, and a file is closed soon.
    if (this.#source.idleMs !== undefined) return 'file'
    if (isOfNow(sql)) return undefined
    const states: string[] = []
    for (const mart of martsIn(sql)) {
      const asked = made.get(mart) ?? this.#madeAt(opened, mart)
      made.set(mart, asked)
      const at = await asked
      if (at === undefined) return undefined
      states.push(at)
    }
    return states.join()
  }

  async #rows(
    opened: Opened,
    { sql, values, made }: { sql: string; values: readonly Value[]; made: Made },
  ): Promise<Record<string, unknown>[]> {
    const state = await this.#stateOf(opened, sql, made)
    const key = JSON.stringify([sql, values, state])
    const kept = state === undefined ? undefined : this.#kept.get(key)
    const now = elapsedOf(this.#clock)
    if (kept && (this.#source.idleMs !== undefined || now - kept.at < mostMs)) return kept.rows
    const rows = await opened.engine.rows<Record<string, unknown>>(sql, values)
    if (state === undefined) return rows
    if (this.#kept.size >= mostKept) this.#kept.clear()
    this.#kept.set(key, { rows, at: now })
    return rows
  }

  /** Throws MusterError when the warehouse cannot be read now. */
  async read<Result>(work: (marts: Marts) => Promise<Result>): Promise<Result> {
    this.#asking += 1
    this.#idle.abort()
    try {
      const opened = await this.#current()
      const made: Made = new Map()
      return await work({
        columns: opened.columns,
        rows: (sql, values = []) => this.#rows(opened, { sql, values, made }),
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
