import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { writtenChecks } from '../../../src/marts/checks/check.ts'
import { readMarts } from '../../../src/marts/mart.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { audited } from './audit-of-seed.ts'
import { audits, notAudited } from './audits.ts'
import { quickWorlds } from './worlds.ts'
import { wornDigests, wornOf } from './worn.ts'

const marts = readMarts().filter(({ dimensionOf }) => dimensionOf === undefined)
const kept = new URL('worn.json', import.meta.url)

/** `MUSTER_GOLDEN=write` keeps what they give now, for a statement that was changed on purpose. */
async function expectKeptDigests(engine: Engine): Promise<void> {
  const digests = await wornDigests(await wornOf(engine), marts, writtenChecks())
  if (process.env.MUSTER_GOLDEN === 'write') writeFileSync(kept, `${JSON.stringify(digests, null, 2)}\n`)
  expect(digests, 'what statements give over a worn star').toEqual(JSON.parse(readFileSync(kept, 'utf8')))
}

test.each(quickWorlds)(
  'seed %i, scale %d, days in %s: every mart has the rows and figures that its header says',
  async (seed, scale, zone) => {
    const isWorn = seed === quickWorlds[0][0]
    const { lines, empty } = await audited({ seed, scale }, zone, isWorn ? expectKeptDigests : undefined)
    expect(lines).toEqual([])
    expect(empty).toEqual([])
  },
)

test('every mart of sql/mart is audited, or it is said why not', () => {
  const known = [...audits.map(({ mart }) => mart), ...Object.keys(notAudited)]
  expect(known.sort()).toEqual(marts.map(({ name }) => name).sort())
})
