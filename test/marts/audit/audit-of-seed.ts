/** One seed: every mart that has an audit, compared with it row by row and figure by figure. */

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defaultDays } from '../../../src/lib/day-rule.ts'
import { readMarts } from '../../../src/marts/mart.ts'
import { openDuckdb } from '../../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { throwAway } from '../../support/throwaway-file.ts'
import { templateFile } from '../../support/warehouse-fixture.ts'
import { auditedService } from './audited.ts'
import { audits } from './audits.ts'
import { differences, rowsOf } from './compare.ts'
import { wrongCurrencies } from './currency.ts'
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

async function auditSeed(engine: Engine, landing: string, world: OddWorld): Promise<Audited> {
  const service = await auditedService({ engine, landing }, world)
  const lines: string[] = []
  const empty: string[] = []
  let [rows, figures] = [0, 0]
  for (const audit of audits) {
    const mart = marts.get(audit.mart)
    if (!mart) throw new Error(`test/marts/audit: there is no mart.${audit.mart}`)
    const actual = await rowsOf(engine, mart)
    const found = differences(mart, audit, { expected: audit.rows(service), actual })
    const wrong = [...found.lines, ...(await wrongCurrencies(engine, mart, service))]
    lines.push(...wrong.slice(0, shown))
    if (wrong.length > shown) lines.push(`mart.${mart.name}: ${wrong.length - shown} more differences`)
    if (actual.length === 0) empty.push(mart.name)
    rows += actual.length
    figures += found.figures
  }
  return { lines, empty, marts: audits.length, rows, figures }
}

/** In a DuckDB file of its own, whose days are counted in that zone; `look` may do with it what it wants afterwards. */
export async function audited(
  world: OddWorld,
  zone: string,
  look: (engine: Engine) => Promise<void> = async () => undefined,
): Promise<Audited> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-audit-'))
  const file = join(folder, 'audit.duckdb')
  copyFileSync(await templateFile(), file)
  const engine = await openDuckdb(file, { days: { ...defaultDays, zone } })
  try {
    const found = await auditSeed(engine, join(folder, 'landing'), world)
    await look(engine)
    return found
  } finally {
    await throwAway(engine)
    rmSync(folder, { recursive: true, force: true })
  }
}
