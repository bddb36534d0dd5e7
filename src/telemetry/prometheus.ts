/**
 * Formats the ledgers' figures as Prometheus text, with the connection as a label. A scrape gets figures that are a few seconds
 * old, so that it costs next to nothing.
 */
import pTimeout from 'p-timeout'
import { Counter, Gauge, Registry } from 'prom-client'
import { type Clock, elapsedOf } from '../lib/clock.ts'
import { type FigureReading, readFigures } from '../state/monitoring.ts'
import type { Engine } from '../warehouse/engine.ts'

/** A figure that is not in the ledger: about this process, or about reading the ledger. */
interface OwnFigure {
  readonly name: string
  readonly kind: 'gauge' | 'counter'
  readonly help: string
  readonly labels: readonly string[]
}

export interface OwnReading {
  readonly figure: OwnFigure
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const ledgerFigures = {
  isReadable: {
    name: 'muster_ledger_is_readable',
    kind: 'gauge',
    help: 'Whether the ledger could be read: 1 or 0. While another process holds the DuckDB file, values are from the previous read.',
    labels: [],
  },
  readAt: {
    name: 'muster_ledger_read_timestamp_seconds',
    kind: 'gauge',
    help: 'When the figures were read from the ledger.',
    labels: [],
  },
  program: {
    name: 'muster_build_info',
    kind: 'gauge',
    help: 'Version of the program; always 1.',
    labels: ['version'],
  },
} as const satisfies Record<string, OwnFigure>

export const serveFigures = {
  taken: {
    name: 'muster_deliveries_taken_total',
    kind: 'counter',
    help: 'Webhook deliveries that were stored since this process began.',
    labels: [],
  },
  failed: {
    name: 'muster_deliveries_failed_total',
    kind: 'counter',
    help: 'Webhook deliveries that could not be stored, answered 503.',
    labels: [],
  },
  refused: {
    name: 'muster_deliveries_refused_total',
    kind: 'counter',
    help: 'Webhook deliveries that were refused, by reason.',
    labels: ['reason'],
  },
  due: {
    name: 'muster_dag_next_timestamp_seconds',
    kind: 'gauge',
    help: 'When a DAG runs next.',
    labels: ['dag'],
  },
} as const satisfies Record<string, OwnFigure>

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

export interface ExposedReadings {
  readonly connection: string
  readonly readings: readonly (FigureReading | OwnReading)[]
}

/** Writes a family of lines for each figure that has values. */
export async function exposition(all: readonly ExposedReadings[]): Promise<string> {
  const registry = new Registry()
  const made = new Map<string, Counter | Gauge>()
  const of = ({ name, kind, help, labels }: OwnFigure): Counter | Gauge => {
    const known = made.get(name)
    if (known) return known
    const family = { name, help, labelNames: ['connection', ...labels], registers: [registry] }
    const fresh = kind === 'counter' ? new Counter(family) : new Gauge(family)
    made.set(name, fresh)
    return fresh
  }
  for (const { connection, readings } of all)
    for (const { figure, labels, value } of readings) of(figure).inc({ connection, ...labels }, value)
  return registry.metrics()
}

/** Milliseconds after which figures are read again. */
const freshMs = 5000
/** Milliseconds that a scrape waits for the ledger, which a DAG may lock for hours; then it answers with older figures. */
const longestMs = 2000

interface LedgerFigures {
  readonly readings: readonly FigureReading[]
  readonly isReadable: boolean
  /** Milliseconds since the epoch; undefined before the first. */
  readonly readAt: number | undefined
}

interface ScrapeParts {
  readonly connection: string
  readonly version: string
  readonly clock: Clock
  /** Runs work when its turn at the warehouse comes. */
  use<Result>(work: (engine: Engine) => Promise<Result>): Promise<Result>
  /** Figures of this process. */
  own(): readonly OwnReading[]
}

export function ledgerReadings(
  { readings, isReadable, readAt }: LedgerFigures,
  version: string,
): ExposedReadings['readings'] {
  const { isReadable: readable, readAt: at, program } = ledgerFigures
  return [
    ...readings,
    { figure: readable, labels: {}, value: isReadable ? 1 : 0 },
    ...(readAt === undefined ? [] : [{ figure: at, labels: {}, value: readAt / 1000 }]),
    { figure: program, labels: { version }, value: 1 },
  ]
}

export function createScrape({ connection, version, clock, use, own }: ScrapeParts): () => Promise<string> {
  let last:
    | { readonly readings: readonly FigureReading[]; readonly at: number; readonly elapsed: number }
    | undefined
  let reading: Promise<boolean> | undefined
  const read = async (): Promise<boolean> => {
    try {
      const readings = (await use(engine => readFigures(engine, clock.now()))) ?? []
      last = { readings, at: clock.now(), elapsed: elapsedOf(clock) }
      return true
    } catch {
      // The figure reports it to a scrape; other work that needs the warehouse reports why.
      return false
    } finally {
      reading = undefined
    }
  }
  const refresh = async (): Promise<boolean> => {
    if (last && elapsedOf(clock) - last.elapsed < freshMs) return true
    reading ??= read()
    return pTimeout(reading, { milliseconds: longestMs, fallback: () => false })
  }
  return async () => {
    const isReadable = await refresh()
    const ledgerState = { readings: last?.readings ?? [], isReadable, readAt: last?.at }
    return exposition([{ connection, readings: [...ledgerReadings(ledgerState, version), ...own()] }])
  }
}
