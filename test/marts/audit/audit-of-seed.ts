/** One seed: every mart that has an audit, compared with it row by row and figure by figure. */
import { readMarts } from '../../../src/marts/mart.ts'
import type { Warehouse } from '../../warehouse/fixture.ts'
import { auditedService } from './audited.ts'
import { audits } from './audits.ts'
import { differences, rowsOf } from './compare.ts'
import type { OddWorld } from './odd-world.ts'

const marts = new Map(readMarts().map(mart => [mart.name, mart]))

/** At most so many lines a mart: the others are usually of the same kind. */
const shown = 12

export interface Audited {
  readonly lines: readonly string[]
  readonly marts: number
  readonly rows: number
  readonly figures: number
  /** Marts in which this world has no row: nothing was compared. */
  readonly empty: readonly string[]
}

export async function auditSeed(warehouse: Warehouse, world: OddWorld): Promise<Audited> {
  const service = await auditedService(warehouse, world)
  const lines: string[] = []
  const empty: string[] = []
  let [rows, figures] = [0, 0]
  for (const audit of audits) {
    const mart = marts.get(audit.mart)
    if (!mart) throw new Error(`test/marts/audit: there is no mart.${audit.mart}`)
    const actual = await rowsOf(warehouse.engine, mart)
    const found = differences(mart, audit, { expected: audit.rows(service), actual })
    const wrong = found.lines
    lines.push(...wrong.slice(0, shown))
    if (wrong.length > shown) lines.push(`mart.${mart.name}: ${wrong.length - shown} more differences`)
    if (actual.length === 0) empty.push(mart.name)
    rows += actual.length
    figures += found.figures
  }
  return { lines, empty, marts: audits.length, rows, figures }
}
