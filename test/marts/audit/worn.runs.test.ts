import { expect, test } from 'vitest'
import { writtenChecks } from '../../../src/marts/checks/check.ts'
import { readMarts } from '../../../src/marts/mart.ts'
import { audited } from './audit-of-seed.ts'
import { drawnOf, drawnWorlds } from './drawn-worlds.ts'
import { auditWorlds } from './worlds.ts'
import { type Digests, martsDigests, wornDigests, wornOf } from './worn.ts'

const marts = readMarts().filter(({ dimensionOf }) => dimensionOf === undefined)

const textOf = (digests: Readonly<Record<string, Digests>>): string =>
  Object.entries(digests)
    .flatMap(([name, found]) => Object.entries(found).map(([part, value]) => `${name}.${part} ${value}\n`))
    .join('')

/** A statement that was changed on purpose is accepted by `npm run accept -- marts`. */
test('over worn and drawn stars every mart and check gives what it always gave', async () => {
  const [seed, scale, zone] = auditWorlds[0]
  await audited({ seed, scale }, zone, async engine => {
    const worn = await wornDigests(await wornOf(engine), marts, writtenChecks())
    await expect(textOf(worn)).toMatchFileSnapshot('worn.txt')
    for (const world of drawnWorlds) {
      const drawn = await martsDigests(await drawnOf(engine, world), marts)
      await expect(textOf(drawn)).toMatchFileSnapshot(`drawn-${world.seed}.txt`)
    }
  })
}, 300_000)
