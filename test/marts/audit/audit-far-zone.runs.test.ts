import { expect, test } from 'vitest'
import { audited } from './audit-of-seed.ts'
import { auditWorlds } from './worlds.ts'

test.each(auditWorlds.slice(1))(
  'seed %i, scale %d, days in %s: every mart has the rows and figures that its header says',
  async (seed, scale, zone) => {
    const { lines, empty } = await audited({ seed, scale }, zone)
    expect(lines).toEqual([])
    expect(empty).toEqual([])
  },
)
