/** The figures of the ledgers in the text format of Prometheus, with the connection as a label of each. */
import { Counter, Gauge, Registry } from 'prom-client'
import { figures } from '../../state/monitoring/figures.ts'
import type { Reading } from '../../state/monitoring/readings.ts'

/** One that the ledger does not have: of this process, or of the reading itself. */
export interface OwnFigure {
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

export const ledgerFigures = {
  isReadable: {
    name: 'muster_ledger_is_readable',
    kind: 'gauge',
    help: 'Whether the ledger could be read: 1 or 0. While a command has a DuckDB file, figures are those of before.',
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
    help: 'Version of the program; 1.',
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

/** All that can be exposed, for the documentation. */
export const everyFigure: readonly OwnFigure[] = [
  ...figures,
  ...Object.values(ledgerFigures),
  ...Object.values(serveFigures),
]

export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

export interface Exposed {
  readonly connection: string
  readonly readings: readonly (Reading | OwnReading)[]
}

/** A family of lines for each figure that has any. */
export async function exposition(all: readonly Exposed[]): Promise<string> {
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
