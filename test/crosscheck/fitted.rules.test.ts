/** When a crosscheck calibrates: not on incomplete data, before the first comparison, and when a definition stops explaining. */
import { describe, expect, test } from 'vitest'
import type { Calibration } from '../../src/crosscheck/calibrate/calibrate.ts'
import {
  compareFitted,
  explainsInstead,
  type FittingSteps,
  hasStoppedExplaining,
  incompleteAmong,
  requireComplete,
  withUnread,
} from '../../src/crosscheck/calibrated-crosscheck.ts'
import type { CrosscheckResult } from '../../src/crosscheck/crosscheck.ts'
import { definitionDefaults } from '../../src/crosscheck/metrics/definition.ts'
import { BudgetSpent } from '../../src/lib/errors.ts'

const missing = (resource: string, [seen, expected]: readonly [number | null, number | null]) => ({
  ...{ resource, reason: 'never read completely', seen, expected },
})

describe('incomplete is a resource behind the metrics', () => {
  test.each([
    [98, 100, true],
    [99, 100, false],
    [100, 100, false],
    [null, 100, true],
    [99, null, true],
    [null, null, true],
    [0, 0, true],
  ])('of which %j of %j records were seen: %s', (seen, expected, is) => {
    expect(incompleteAmong([missing('timesheets', [seen, expected])])).toHaveLength(is ? 1 : 0)
  })

  test.each([
    ['requisitions', true],
    ['timesheets', true],
    ['invoices', false],
  ])('%s: %s', (name, is) => {
    expect(incompleteAmong([missing(name, [12, 25])])).toHaveLength(is ? 1 : 0)
  })

  test('and one that no sync has read, named once', () => {
    const incomplete = [missing('timesheets', [1, 2])]
    expect(withUnread(incomplete, ['timesheets', 'requisitions'])).toEqual([
      ...incomplete,
      { resource: 'requisitions', reason: 'no sync has read it' },
    ])
    const both = [...incomplete, missing('requisitions', [1, 2])]
    expect(withUnread(both, ['timesheets', 'requisitions'])).toEqual(both)
  })

  test('which keeps a calibration from beginning', () => {
    expect(() => requireComplete([])).not.toThrow()
    const two = [missing('timesheets', [1, 2]), { resource: 'requisitions', reason: 'no sync has read it' }]
    expect(() => requireComplete(two)).toThrow(BudgetSpent)
    expect(() => requireComplete(two)).toThrow(
      '(timesheets: never read completely; requisitions: no sync has read it): run muster sync',
    )
  })
})

test.each([
  [10, 100, false],
  [11, 100, true],
  [0, 0, false],
])(
  'a definition that leaves %i of %i figures unexplained has stopped explaining: %s',
  (left, compared, is) => {
    expect(hasStoppedExplaining(left, compared)).toBe(is)
  },
)

test.each([
  [10, 100, true],
  [11, 100, false],
])('another that leaves %i of %i explains them instead: %s', (left, before, is) => {
  expect(explainsInstead(left, before)).toBe(is)
})

describe('a crosscheck', () => {
  const found = (stopped?: string): Calibration => ({
    ...{ definition: { ...definitionDefaults, quantiles: 'type6' }, rules: new Map(), requests: 9, stopped },
  })

  interface Setup {
    readonly isCalibrated?: boolean
    readonly incomplete?: readonly string[]
    readonly stopped?: string
    /** Of ten figures, after the first comparison and after the second. */
    readonly unexplained?: readonly number[]
  }

  async function run(isAsked: boolean, setup: Setup = {}) {
    const { isCalibrated = true, incomplete = [], stopped, unexplained = [0] } = setup
    const did: string[] = []
    let compared = 0
    const steps: FittingSteps = {
      say: line => did.push(`say ${line.split(':')[0]}`),
      incomplete: async () => incomplete.map(resource => ({ resource, reason: 'missing' })),
      inForce: async () => ({ definition: definitionDefaults, id: 'known', isCalibrated }),
      async calibrate() {
        did.push('calibrate')
        return found(stopped)
      },
      async record() {
        did.push('record')
        return { definition: definitionDefaults, id: 'recorded' }
      },
      async compare({ id }) {
        did.push(`compare ${id.length === 12 ? 'found' : id}`)
        const left = unexplained[compared] ?? 0
        compared += 1
        const rows = Array.from({ length: 10 }, (_, index) => ({
          verdict: index < left ? 'unexplained' : 'equal',
        }))
        return { rows, left } as unknown as CrosscheckResult
      },
      restore: async checked => void did.push(`restore ${(checked as unknown as { left: number }).left}`),
    }
    const fitted = await compareFitted(steps, isAsked)
    return {
      did,
      id: fitted.inForce.id,
      isCalibrated: fitted.calibration !== undefined,
      checked: fitted.checked,
    }
  }

  test('with a calibrated definition compares', async () => {
    expect(await run(false)).toMatchObject({ did: ['compare known'], id: 'known', isCalibrated: false })
  })

  test('calibrates first where there is no calibration', async () => {
    const { did, id, isCalibrated } = await run(false, { isCalibrated: false })
    expect(did).toEqual([
      'say never calibrated on records of both metrics',
      ...['calibrate', 'record', 'compare recorded'],
    ])
    expect([id, isCalibrated]).toEqual(['recorded', true])
  })

  test('calibrates when it is asked to, and only once', async () => {
    expect((await run(true, { unexplained: [10] })).did).toEqual(['calibrate', 'record', 'compare recorded'])
  })

  test.each([true, false])('does not calibrate on incomplete data, asked to: %s', async isAsked => {
    await expect(run(isAsked, { isCalibrated: false, incomplete: ['timesheets'] })).rejects.toMatchObject({
      message: expect.stringContaining('timesheets: missing'),
    })
  })

  test('compares incomplete data by a definition that is known', async () => {
    expect((await run(false, { incomplete: ['timesheets'] })).did).toEqual(['compare known'])
    expect((await run(false, { incomplete: ['timesheets'], unexplained: [2] })).did).toEqual([
      'compare known',
    ])
  })

  test('calibrates again when more than a tenth is unexplained, and takes over what explains it', async () => {
    expect((await run(false, { unexplained: [1] })).did).toEqual(['compare known'])
    const { did, id, isCalibrated, checked } = await run(false, { unexplained: [10, 1] })
    expect(did.slice(1)).toEqual([
      'say definition known leaves 10 of 10 figures unexplained',
      ...['calibrate', 'compare found', 'say calibrated again', 'record'],
    ])
    expect([id, isCalibrated, (checked as unknown as { left: number }).left]).toEqual(['recorded', true, 1])
  })

  test('keeps its definition and its result when no other explains more', async () => {
    const { did, id, isCalibrated, checked } = await run(false, { unexplained: [2, 1] })
    expect(did.slice(2)).toEqual([
      ...['calibrate', 'compare found', 'restore 2', 'say no other definition explains them'],
    ])
    expect([id, isCalibrated, (checked as unknown as { left: number }).left]).toEqual(['known', false, 2])
  })

  test('keeps its definition when the calibration could not be finished', async () => {
    const { did, id } = await run(false, { unexplained: [2, 0], stopped: 'the requests are used' })
    expect([did.slice(2), id]).toEqual([['calibrate'], 'known'])
  })
})
