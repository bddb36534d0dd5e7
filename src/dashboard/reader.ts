/** Reads marts for the dashboard. Closes a file while idle, so that a sync can write it. */
import { type Clock, elapsedOf, sleepUnlessAborted } from '../lib/clock.ts'
import { columnsIn } from '../warehouse/catalogue.ts'
import type { Engine, SqlValue } from '../warehouse/engine.ts'
import { quoteName } from '../warehouse/sql-text.ts'
import type { MartColumns } from './statement.ts'

export interface WarehouseSource {
  open(): Promise<Engine>
  /** Changes whenever reopening would show another state of the warehouse; constant for a server. */
  stamp(): string
  /** Milliseconds without a request after which it is closed; undefined keeps it open. */
  readonly idleMs?: number
}

interface OpenedSource {
  readonly engine: Engine
  readonly columns: MartColumns
  readonly stamp: string
}

/** Max cached answers: the rows of 300 statements fit a few megabytes. */
const maxKept = 300

/** Answers of a server expire after a minute, as rights, policies and rows may change. */
const maxMs = 60_000

interface CachedRows {
  readonly rows: Record<string, unknown>[]
  readonly at: number
}

const martsIn = (sql: string): string[] => [
  ...new Set([...sql.matchAll(/\bmart\."?(\w+)/g)].map(([, name = '']) => name)),
]

/** Whether the answer to a statement changes with the clock. */
const isOfNow = (sql: string): boolean => /\b(now\(|current_(date|timestamp))/i.test(sql)

async function columnsOf(engine: Engine): Promise<MartColumns> {
  const found = new Map<string, Set<string>>()
  for (const { table, name } of await columnsIn(engine, ['mart'])) {
    const columns = found.get(table) ?? new Set()
    found.set(table, columns.add(name))
  }
  return found
}

/** Build time of each mart, read once per page. */
type MartTimes = Map<string, Promise<string | undefined>>

/** Runs statements one after the other on one state of the warehouse. */
export interface Marts {
  readonly columns: MartColumns
  rows(sql: string, values?: readonly SqlValue[]): Promise<Record<string, unknown>[]>
}

export class MartReader {
  readonly #source: WarehouseSource
  readonly #clock: Clock
  #opened: Promise<OpenedSource> | undefined
  #asking = 0
  #idle = new AbortController()
  /** Answers of one state: an open file does not change, and a mart of a server has its build time. */
  readonly #cache = new Map<string, CachedRows>()

  constructor(source: WarehouseSource, clock: Clock) {
    this.#source = source
    this.#clock = clock
  }

  async #open(): Promise<OpenedSource> {
    const stamp = this.#source.stamp()
    const engine = await this.#source.open()
    try {
      return { engine, columns: await columnsOf(engine), stamp }
    } catch (error) {
      await engine.close()
      throw error
    }
  }

  async #current(): Promise<OpenedSource> {
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

  /** Build time of the rows of a mart on a server; undefined without rows, or if no build made them. */
  async #madeAt({ engine, columns }: OpenedSource, mart: string): Promise<string | undefined> {
    if (!columns.get(mart)?.has('loaded_at')) return undefined
    const [row] = await engine.rows<{ at: string }>(
      `select cast(loaded_at as text) as at from mart.${quoteName(mart)} limit 1`,
    )
    return row?.at
  }

  /** The state that an answer belongs to; undefined if unknown, and then the answer is not cached. */
  async #stateOf(opened: OpenedSource, sql: string, made: MartTimes): Promise<string | undefined> {
    // An answer relative to now also goes stale in a file, but a file is soon closed.
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
    opened: OpenedSource,
    { sql, values, made }: { sql: string; values: readonly SqlValue[]; made: MartTimes },
  ): Promise<Record<string, unknown>[]> {
    const state = await this.#stateOf(opened, sql, made)
    const key = JSON.stringify([sql, values, state])
    const cached = state === undefined ? undefined : this.#cache.get(key)
    const now = elapsedOf(this.#clock)
    if (cached && (this.#source.idleMs !== undefined || now - cached.at < maxMs)) return cached.rows
    const rows = await opened.engine.rows<Record<string, unknown>>(sql, values)
    if (state === undefined) return rows
    if (this.#cache.size >= maxKept) this.#cache.clear()
    this.#cache.set(key, { rows, at: now })
    return rows
  }

  /** Throws MusterError when the warehouse cannot be read now. */
  async read<Result>(work: (marts: Marts) => Promise<Result>): Promise<Result> {
    this.#asking += 1
    this.#idle.abort()
    try {
      const opened = await this.#current()
      const made: MartTimes = new Map()
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
    this.#cache.clear()
    if (opened) await (await opened).engine.close()
  }
}
