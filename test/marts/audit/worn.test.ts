import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { writtenChecks } from '../../../src/marts/checks/check.ts'
import { readMarts } from '../../../src/marts/mart.ts'
import { audited } from './audit-of-seed.ts'
import { auditWorlds } from './worlds.ts'
import { wornDigests, wornOf } from './worn.ts'

const marts = readMarts().filter(({ dimensionOf }) => dimensionOf === undefined)
const kept = new URL('worn.json', import.meta.url)

/** `MUSTER_GOLDEN=write` keeps what they give now, for a statement that was changed on purpose. */
test('over a worn star every mart and check gives what it always gave', async () => {
  const [seed, scale, zone] = auditWorlds[0]
  await audited({ seed, scale }, zone, async engine => {
    const digests = await wornDigests(await wornOf(engine), marts, writtenChecks())
    if (process.env.MUSTER_GOLDEN === 'write') writeFileSync(kept, `${JSON.stringify(digests, null, 2)}\n`)
    expect(digests).toEqual(JSON.parse(readFileSync(kept, 'utf8')))
  })
})
