/** What counts as the proof of a scan, by examples and as properties, and the same in SQL. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ledger } from '../../src/state/ledger.ts'
import { countIds, readPasses, savePasses } from '../../src/state/scans/scan-ids.ts'
import {
  counts,
  hiddenRows,
  judge,
  type PassFigures,
  type PassStart,
  patienceFor,
  provedStart,
  type SeenId,
  seenAndExpected,
} from '../../src/sync/paging/proof.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'

const start = (parts: Partial<PassStart> = {}): PassStart => ({
  ...{ pass: 1, front: 2, total: 400, before: 1000, watermark: null },
  ...parts,
})
const seen = (parts: Partial<SeenId> = {}): SeenId => ({
  ...{ firstPass: 1, lastPass: 1, frontPasses: [], existedAt: null },
  ...parts,
})
const figures = (parts: Partial<PassFigures>): PassFigures => ({
  ...{ attempt: 1, starts: [start()], counted: [400], ids: 400, total: 400, excluded: 0, hidden: 0 },
  ...parts,
})

describe('a record counts for a pass start', () => {
  test('when its own times say that it was there', () => {
    expect([1000, 1001, null].map(existedAt => counts(seen({ existedAt }), start()))).toEqual([
      true,
      false,
      false,
    ])
    expect(counts(seen({ existedAt: 1 }), start({ before: null }))).toBe(false)
  })

  test('when it was on the first page of the pass, or was seen before it', () => {
    expect(counts(seen({ frontPasses: [1] }), start())).toBe(true)
    expect(counts(seen({ lastPass: 2 }), start({ pass: 2 }))).toBe(true)
    expect(counts(seen({ firstPass: 2, lastPass: 2 }), start({ pass: 2 }))).toBe(false)
  })

  test('only if it was seen then or later: it may have been deleted', () => {
    const early = seen({ existedAt: 1, frontPasses: [1] })
    expect(counts(early, start({ pass: 2 }))).toBe(false)
  })
})

describe('a scan', () => {
  test('is proved by as many records as there were, less those that it need not see', () => {
    const newer = start({ pass: 2, total: 390 })
    const both = { starts: [start(), newer] }
    expect(provedStart(figures({ ...both, counted: [400, 389] }))?.pass).toBe(1)
    expect(provedStart(figures({ ...both, counted: [400, 390] }))?.pass).toBe(2)
    expect(provedStart(figures({ ...both, counted: [399, 389] }))).toBeUndefined()
    expect(provedStart(figures({ counted: [100], excluded: 300 }))?.pass).toBe(1)
  })

  test('goes on while passes bring something, and ends when four in a row bring nothing', () => {
    const judged = (lacks: readonly number[]) => judge({ attempt: lacks.length }, undefined, lacks)
    expect([[9], [9, 8, 7, 6, 5, 4], [9, 9, 9, 9], [9, 9, 9, 9, 8]].map(judged)).toEqual(
      Array(4).fill('scan again'),
    )
    expect(
      [
        [9, 9, 9, 9, 9],
        [9, 3, 4, 5, 6, 7],
      ].map(judged),
    ).toEqual(['refused', 'refused'])
    const slow = Array.from({ length: patienceFor({}).maxPasses }, (_, n) => 100 - n)
    expect([judged(slow.slice(1)), judged(slow)]).toEqual(['scan again', 'refused'])
    expect(judge({ attempt: 1 }, start(), [0])).toBe('accepted')
  })

  test('is tried for longer where the order changes with every answer, and not for ever', () => {
    const shuffled = { isShuffled: true }
    const { maxPasses, maxIdlePasses } = patienceFor(shuffled)
    const judged = (lacks: readonly number[]) =>
      judge({ attempt: lacks.length, ...shuffled }, undefined, lacks)
    expect([judged(Array(maxIdlePasses).fill(9)), judged(Array(maxIdlePasses + 1).fill(9))]).toEqual([
      'scan again',
      'refused',
    ])
    const slow = Array.from({ length: maxPasses }, (_, n) => 100 - n)
    expect([judged(slow.slice(1)), judged(slow)]).toEqual(['scan again', 'refused'])
  })

  test('reports the shortfall of the pass start with the smallest one', () => {
    const both = { starts: [start(), start({ pass: 2, total: 390 })], counted: [300, 389] }
    expect(seenAndExpected(figures(both))).toEqual({ seen: 389, expected: 390 })
    expect(seenAndExpected(figures({ starts: [], counted: [], ids: 200, total: 500 }))).toEqual({
      ...{ seen: 200, expected: 500 },
    })
  })
})

describe('rows that the service hides', () => {
  const pass = { shown: { missing: 48 }, start: start({ total: 650 }), below: 0, lastTotal: 650 }
  const same = { attempt: 5, ids: 602, inLastPass: 602, known: undefined, still: 2 }

  test('are accepted when pages of another size show the same records', () => {
    expect(hiddenRows(pass, same)).toBe(48)
    expect(hiddenRows(pass, { ...same, attempt: 4 })).toBe(0)
    expect(hiddenRows(pass, { ...same, still: 1 })).toBe(0)
    expect(hiddenRows(pass, { ...same, ids: 603 })).toBe(0)
    expect(hiddenRows(pass, { ...same, inLastPass: 601 })).toBe(0)
    expect(hiddenRows({ ...pass, lastTotal: 649 }, same)).toBe(0)
    expect(hiddenRows({ ...pass, shown: undefined }, same)).toBe(0)
  })

  test('are accepted where ties come in any order, when ten passes see no other record', () => {
    for (const tied of [
      { ...same, inLastPass: 580 },
      { ...same, isShuffled: true },
    ]) {
      expect(hiddenRows(pass, { ...tied, still: 9 })).toBe(0)
      expect(hiddenRows(pass, { ...tied, still: 10 })).toBe(48)
      expect(hiddenRows(pass, { ...tied, still: 10, ids: 601 })).toBe(0)
    }
  })

  test('are known afterwards, and no more than before', () => {
    const first = { ...same, attempt: 1, known: 48 }
    expect(hiddenRows(pass, first)).toBe(48)
    expect(hiddenRows({ ...pass, shown: { missing: 40 } }, first)).toBe(40)
    expect(hiddenRows({ ...pass, shown: { missing: 49 } }, first)).toBe(0)
  })
})

const sighting = fc.record({
  id: fc.nat(5),
  pass: fc.integer({ min: 0, max: 3 }),
  isFront: fc.boolean(),
  existedAt: fc.option(fc.nat(9)),
})
const moment = fc.record({ pass: fc.integer({ min: 1, max: 3 }), before: fc.option(fc.nat(9)) })

function seenOf(rows: readonly Sighting[]): SeenId[] {
  return [...new Set(rows.map(({ id }) => id))].map(id => {
    const own = rows.filter(one => one.id === id)
    const times = own.map(({ existedAt }) => existedAt).filter(time => time !== null)
    return {
      firstPass: Math.min(...own.map(({ pass }) => pass)),
      lastPass: Math.max(...own.map(({ pass }) => pass)),
      frontPasses: own.filter(({ isFront }) => isFront).map(({ pass }) => pass),
      existedAt: times.length === 0 ? null : Math.min(...times),
    }
  })
}

interface Sighting {
  readonly id: number
  readonly pass: number
  readonly isFront: boolean
  readonly existedAt: number | null
}

describeOnEngines('the moments of a scan', bench => {
  test('are those of its last save, also where that has none', async () => {
    const { engine } = await bench.warehouse()
    const { before, ...moment } = start()
    await savePasses(engine, 's1', [{ scan_id: 's1', existed_before: before, ...moment }])
    await savePasses(engine, 's2', [{ scan_id: 's2', existed_before: before, ...moment }])
    await savePasses(engine, 's1', [])
    expect(await readPasses(engine, 's1')).toEqual([])
    expect(await readPasses(engine, 's2')).toHaveLength(1)
  })
})

describeOnEngines('counting in the ledger', bench => {
  test('is what the rule says', async () => {
    const { engine } = await bench.warehouse()
    let number = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(sighting, { minLength: 1, maxLength: 12 }),
        fc.array(moment, { maxLength: 3 }),
        async (sightings, passStarts) => {
          number += 1
          const scanId = `s${number}`
          const rows = sightings.map(({ id, pass, isFront, existedAt }) => ({
            ...{ scan_id: scanId, record_id: `r${id}`, first_pass: pass, last_pass: pass },
            ...{ front_pass: isFront ? pass : null, existed_at: existedAt, changed_at: existedAt },
            ...{ created_at: null, updated_at: null },
          }))
          await ledger(engine).insertInto('ops.scan_id').values(rows).execute()
          const found = await countIds(engine, { scanId, passStarts })
          const ids = seenOf(sightings)
          expect(found.ids).toBe(ids.length)
          expect(found.counted).toEqual(
            passStarts.map(one => ids.filter(id => counts(id, start(one))).length),
          )
        },
      ),
      { numRuns: 60 },
    )
  })
})
