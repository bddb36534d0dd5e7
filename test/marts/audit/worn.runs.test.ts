import { expect, test } from 'vitest'
import { writtenChecks } from '../../../src/marts/checks/check.ts'
import { readMarts } from '../../../src/marts/mart.ts'
import { audited } from './audit-of-seed.ts'
import { auditWorlds } from './worlds.ts'
import { wornDigests, wornOf } from './worn.ts'

const marts = readMarts().filter(({ dimensionOf }) => dimensionOf === undefined)

/** A statement that was changed on purpose is accepted by `npm run accept -- marts`. */
test('over a worn star every mart and check gives what it always gave', async () => {
  const [seed, scale, zone] = auditWorlds[0]
  await audited({ seed, scale }, zone, async engine => {
    const digests = await wornDigests(await wornOf(engine), marts, writtenChecks())
    const lines = Object.entries(digests).flatMap(([name, found]) =>
      Object.entries(found).map(([part, value]) => `${name}.${part} ${value}\n`),
    )
    await expect(lines.join('')).toMatchFileSnapshot('worn.txt')
  })
})
