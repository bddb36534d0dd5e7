import { expect, test } from 'vitest'
import { readMarts } from '../../../src/marts/mart.ts'
import { audited } from './audit-of-seed.ts'
import { audits, notAudited } from './audits.ts'
import { auditWorlds } from './worlds.ts'

test.each(auditWorlds.slice(0, 1))(
  'seed %i, scale %d, days in %s: every mart has the rows and figures that its header says',
  async (seed, scale, zone) => {
    const { lines, empty } = await audited({ seed, scale }, zone)
    expect(lines).toEqual([])
    expect(empty).toEqual([])
  },
)

test('every mart of sql/mart is audited, or it is said why not', () => {
  const written = readMarts().filter(({ dimensionOf }) => dimensionOf === undefined)
  const known = [...audits.map(({ mart }) => mart), ...Object.keys(notAudited)].sort()
  const hint =
    'export an audit from test/marts/audit/marts/MART.ts, or say in `notAudited` of audits.ts why not'
  expect(known, hint).toEqual(written.map(({ name }) => name).sort())
})
