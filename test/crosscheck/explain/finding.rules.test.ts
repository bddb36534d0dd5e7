/** Which groups a finding concerns, how much it adds to them, and whether it explains a difference. */
import { expect, test } from 'vitest'
import {
  type CrosscheckFinding,
  concerns,
  effectOn,
  isExplanation,
  isWithin,
} from '../../../src/crosscheck/explain/finding.ts'

const finding = (parts: Partial<CrosscheckFinding> = {}): CrosscheckFinding => ({
  ...{ metric: 'timeToFill', kind: 'newer', record: 'R', sentence: '', ours: [], theirs: [] },
  ...parts,
})

test.each([
  [{}, {}, true],
  [{ project: 'p1', week: '2026-05-04' }, {}, true],
  [{}, { project: 'p1' }, true],
  [{ project: 'p1' }, { project: 'p1', week: '2026-05-04' }, true],
  [{ project: 'p1', week: '2026-05-04' }, { project: 'p1', week: '2026-05-11' }, false],
  [{ project: 'p1' }, { project: 'p2' }, false],
])('keys %o lie in the group %o: %s', (keys, group, is) => {
  expect(isWithin(keys, group)).toBe(is)
})

test('a finding concerns the groups of either side', () => {
  const one = finding({
    ours: [{ keys: { week: 'w1' }, amount: 1 }],
    theirs: [{ keys: { week: 'w2' }, amount: 1 }],
  })
  expect(['w1', 'w2', 'w3'].map(week => concerns(one, { week }))).toEqual([true, true, false])
})

test('its effect is what the service has more, in that group', () => {
  const one = finding({
    ours: [
      { keys: { week: 'w1' }, amount: 8 },
      { keys: { week: 'w1' }, amount: 2 },
    ],
    theirs: [
      { keys: { week: 'w1' }, amount: 13 },
      { keys: { week: 'w2' }, amount: 100 },
    ],
  })
  expect(effectOn(one, { week: 'w1' })).toBe(3)
  expect(effectOn(one, { week: 'w2' })).toBe(100)
  expect(effectOn(one, {})).toBe(103)
  expect(effectOn(one, { week: 'w3' })).toBe(0)
})

test.each([
  ['newer', true],
  ['missing', true],
  ['deleted', true],
  ['quarantined', true],
  ['uncovered', true],
  ['definition', true],
  ['lost', false],
  ['differs', false],
  ['unknown', false],
] as const)('%s explains a difference: %s', (kind, is) => {
  expect(isExplanation(finding({ kind }))).toBe(is)
})
