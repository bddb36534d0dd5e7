/** What a scrape answers: figures of the ledger that are some seconds old, so that scrapes cost next to nothing. */
import pTimeout from 'p-timeout'
import { type Clock, elapsedOf } from '../../lib/clock.ts'
import { type Reading, readFigures } from '../../state/monitoring/readings.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { type Exposed, exposition, ledgerFigures, type OwnReading } from './exposition.ts'

/** Figures are read again after so long. */
const freshMs = 5000
/** A scrape waits so long for the ledger, which a DAG may hold for hours; then it answers with what was read before. */
const longestMs = 2000

export interface LedgerFigures {
  readonly readings: readonly Reading[]
  readonly isReadable: boolean
  /** Milliseconds since the epoch; undefined before the first. */
  readonly readAt: number | undefined
}

export interface ScrapeParts {
  readonly connection: string
  readonly version: string
  readonly clock: Clock
  /** Waits for its turn at the warehouse. */
  use<Result>(work: (engine: Engine) => Promise<Result>): Promise<Result>
  /** Of this process. */
  own(): readonly OwnReading[]
}

export function ledgerReadings(
  { readings, isReadable, readAt }: LedgerFigures,
  version: string,
): Exposed['readings'] {
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
    | { readonly readings: readonly Reading[]; readonly at: number; readonly elapsed: number }
    | undefined
  let reading: Promise<boolean> | undefined
  const read = async (): Promise<boolean> => {
    try {
      const readings = (await use(engine => readFigures(engine, clock.now()))) ?? []
      last = { readings, at: clock.now(), elapsed: elapsedOf(clock) }
      return true
    } catch {
      // A scrape says so by its figure; why it is so is told by whatever else needs the warehouse.
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
    const told = { readings: last?.readings ?? [], isReadable, readAt: last?.at }
    return exposition([{ connection, readings: [...ledgerReadings(told, version), ...own()] }])
  }
}
