/** A scan from the last page to the first loses nothing of a list that changes while it is read; planted mistakes lose rows. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { advance } from '../../src/sync/paging/pass.ts'
import { beginPass } from '../../src/sync/paging/pass-state.ts'
import { knownBelow } from '../../src/sync/scan/lookback.ts'
import {
  type Change,
  emptyCopy,
  forward,
  lag,
  lost,
  MutableList,
  type Row,
  reverse,
  type Scan,
  type Setting,
} from './mutable-list.ts'

type Kind = Omit<Change, 'before'>

const anyOf = (rows: number): Kind[] => [
  { kind: 'insert', which: 0 },
  ...Array.from({ length: rows }, (_, which) => ({ kind: 'update' as const, which })),
  ...Array.from({ length: rows }, (_, which) => ({ kind: 'delete' as const, which })),
]

/** Every way to place `count` changes before the first `requests` requests. */
function* placements(count: number, kinds: readonly Kind[], requests: number): Generator<Change[]> {
  if (count === 0) {
    yield []
    return
  }
  for (const rest of placements(count - 1, kinds, requests)) {
    for (let before = rest[0]?.before ?? requests - 1; before >= 0; before -= 1)
      for (const kind of kinds) yield [{ ...kind, before }, ...rest]
  }
}

const cases = [
  { rows: 3, pageSize: 1, changes: 3, requests: 6 },
  { rows: 4, pageSize: 2, changes: 3, requests: 5 },
  { rows: 5, pageSize: 2, changes: 2, requests: 7 },
  { rows: 5, pageSize: 3, changes: 2, requests: 5 },
]

function losses(scan: Scan, { most = Number.POSITIVE_INFINITY, incremental = scan } = {}) {
  let histories = 0
  const found: Setting[] = []
  for (const { changes, requests, ...size } of cases) {
    for (const placed of placements(changes, anyOf(size.rows), requests)) {
      histories += 1
      const setting = { ...size, changes: placed }
      if (lost(setting, scan, incremental).length > 0) found.push(setting)
      if (found.length >= most) return { histories, found }
    }
  }
  return { histories, found }
}

const change = fc.record({
  kind: fc.constantFrom<Change['kind']>('insert', 'update', 'delete', 'late', 'wait'),
  which: fc.nat(9),
  before: fc.nat(12),
})

const setting = fc.record({
  rows: fc.integer({ min: 0, max: 9 }),
  pageSize: fc.integer({ min: 1, max: 3 }),
  changes: fc.array(change, { maxLength: 12 }),
  ticking: fc.boolean(),
  meanwhile: fc.integer({ min: 1, max: 3 }),
})

describe('every placement of two or three changes', () => {
  test('loses nothing', () => {
    const { histories, found } = losses(reverse())
    expect(found.slice(0, 3)).toEqual([])
    expect(histories).toBeGreaterThan(40_000)
  })

  test('loses rows when pages are read forward, in the first scan and in later ones', () => {
    expect(losses(forward, { most: 1, incremental: reverse() }).found).toHaveLength(1)
    expect(losses(reverse(), { most: 1, incremental: forward }).found).toHaveLength(1)
  })
})

describe('any placement of many changes', () => {
  test('loses nothing, whichever page the scan begins at', () => {
    fc.assert(
      fc.property(setting, fc.integer({ min: 1, max: 6 }), (drawn, beginAt) =>
        [false, true].every(accept => lost(drawn, reverse({ lookback: lag, beginAt, accept })).length === 0),
      ),
      { numRuns: 20_000 },
    )
  })

  const isDetected = (scan: Scan, only: (drawn: Setting) => boolean = () => true) =>
    fc.check(
      fc.property(setting, drawn => !only(drawn) || lost(drawn, scan).length === 0),
      { numRuns: 50_000, seed: 1 },
    ).failed

  const isPunctual = ({ changes }: Setting) => changes.every(({ kind }) => kind !== 'late')

  test('loses rows with a strict comparison, as changes may share the time of the watermark', () => {
    expect(isDetected(reverse({ strict: true }), isPunctual)).toBe(true)
    expect(isDetected(reverse(), isPunctual)).toBe(false)
  })

  test('loses rows with a watermark of when the scan ended instead of its first page', () => {
    expect(isDetected(reverse({ watermark: 'end of scan' }), isPunctual)).toBe(true)
    expect(isDetected(reverse({ watermark: 'end of scan', lookback: lag }), isPunctual)).toBe(true)
  })

  test('loses rows when pages are read forward and the greatest time seen is the watermark', () => {
    expect(isDetected(forward, isPunctual)).toBe(true)
  })

  test('loses late rows when it does not look back', () => {
    expect(isDetected(reverse({ lookback: 0 }))).toBe(true)
  })
})

describe('a scan that ends at the watermark when nothing can come below it any more', () => {
  const kinds: Kind[] = [...anyOf(3), { kind: 'late', which: 0 }, { kind: 'wait', which: 0 }]
  const hours = 3_600_000

  /** One clock needs the lookback once, which is half of what the product waits. */
  const settling = (tooEarly: number): Scan =>
    reverse({
      lookback: lag,
      settles: ({ seen }) => (seen === undefined ? undefined : seen - lag - tooEarly),
    })
  const scan = settling(0)

  /** The first way to place three changes that loses rows. */
  function losing(using: Scan, ahead = 0): Setting | undefined {
    for (const changes of placements(3, kinds, 6)) {
      const setting = { rows: 3, pageSize: 1, changes, meanwhile: 2, ahead }
      if (lost(setting, using).length > 0) return setting
    }
    return undefined
  }

  test('loses nothing, wherever three changes are placed', () => {
    expect(losing(scan)).toBeUndefined()
  })

  test('loses nothing, however many changes there are, whether their times differ, and whatever our clock says', () => {
    fc.assert(
      fc.property(
        setting,
        fc.constantFrom(-hours, 0, hours),
        (drawn, ahead) => lost({ ...drawn, ahead }, scan).length === 0,
      ),
      { numRuns: 5_000 },
    )
  })

  test('loses rows when the last scan may have begun before the latest were there', () => {
    const isLost = (tooEarly: number) =>
      fc.check(
        fc.property(setting, drawn => lost(drawn, settling(tooEarly)).length === 0),
        { numRuns: 10_000, seed: 1 },
      ).failed
    expect([isLost(0), isLost(lag + 1)]).toEqual([false, true])
  })

  test('loses rows when the time of the watermark, by the clock of the service, is compared with ours', () => {
    expect(losing(reverse({ lookback: lag, settles: ({ watermark }) => watermark }), hours)).toBeDefined()
  })

  const watermark = '2026-03-01T09:00:00.000Z'
  const minutes = (count: number) => new Date(Date.parse(watermark) + count * 60_000).toISOString()
  const known = (seen: string | undefined, begun: string | undefined, lookback = 15) =>
    knownBelow({ watermark, seen, begun, lookbackMs: lookback * 60_000 })

  test('is the second one after twice the lookback, by our clock alone', () => {
    const back = { before: Date.parse(watermark) - 15 * 60_000 }
    const settled = { before: Date.parse(watermark), at: watermark }
    expect(known(undefined, minutes(60))).toEqual(back)
    for (const seen of [-600, 1, 600].map(minutes)) {
      const afterwards = (count: number) => new Date(Date.parse(seen) + count * 60_000).toISOString()
      expect([undefined, afterwards(-5), afterwards(30)].map(begun => known(seen, begun))).toEqual([
        back,
        back,
        back,
      ])
      expect(known(seen, afterwards(31))).toEqual(settled)
      expect([known(seen, seen, 0), known(seen, afterwards(1), 0)]).toEqual([
        { before: Date.parse(watermark) },
        settled,
      ])
    }
  })

  test('knows the time of the watermark by its text: a millisecond may hold several', () => {
    const ends = { page: 2, total: 400, empty: false, newest: '2026-03-01T09:00:00.0009Z' }
    const next = (oldest: string) =>
      advance(
        beginPass(2),
        { ...ends, oldest },
        { known: { before: Date.parse(watermark), at: '2026-03-01T09:00:00.0002Z' } },
      ).nextPage
    expect(['0001', '0002', '0003'].map(end => next(`2026-03-01T09:00:00.${end}Z`))).toEqual([1, 0, 1])
  })
})

describe('acceptance', () => {
  function tiesInAnyOrder(seed: number): Setting {
    const rng = seededRng(seed)
    const shuffle = (rows: Row[]) =>
      rows
        .map(row => ({ row, place: rng() }))
        .sort((left, right) => left.place - right.place)
        .map(({ row }) => row)
    return { rows: 5, pageSize: 2, changes: [], shuffle }
  }
  const seeds = Array.from({ length: 300 }, (_, seed) => seed)

  /** The first scan alone: later ones would read some of the missed rows by chance. */
  const missing = (seed: number, accept: boolean) =>
    lost(tiesInAnyOrder(seed), reverse({ accept }), () => undefined)

  test('makes another pass until nothing of an unstable order is missing', () => {
    expect(seeds.filter(seed => missing(seed, true).length > 0)).toEqual([])
    expect(seeds.filter(seed => missing(seed, false).length > 0).length).toBeGreaterThan(50)
  })

  test('settles in six passes although rows change and arrive before every request', () => {
    for (const seed of seeds) {
      const rng = seededRng(seed)
      const changes = Array.from({ length: 200 }, (_, before): Change => {
        const kind = rng() < 0.2 ? 'insert' : 'update'
        return { kind, which: Math.floor(rng() * 100), before }
      })
      const restless = { rows: 12, pageSize: 3, changes }
      const copy = emptyCopy()
      reverse({ accept: true })(new MutableList(restless), copy, restless)
      expect(copy.attempts).toBeLessThanOrEqual(6)
      expect(lost(restless, reverse({ accept: true }))).toEqual([])
    }
  })

  test('remembers the greatest total of the pass, not the last', () => {
    const pages = [
      { page: 2, total: 400 },
      { page: 1, total: 399 },
    ]
    const end = pages.reduce((state, page) => advance(state, { ...page, empty: false }), beginPass(2))
    expect(end).toMatchObject({ nextPage: 0, greatestTotal: 400, lastTotal: 399, pages: 2 })
  })
})

describe('an incremental scan', () => {
  const watermark = Date.UTC(2026, 0, 1)

  /** `old` rows before the watermark, then those at or after it; rows stand a minute apart. */
  function requests({ old, read, beginAt }: { old: number; read: number; beginAt: number }): number {
    const total = old + read
    const timeAt = (position: number) => new Date(watermark + (position - old) * 60_000).toISOString()
    let asked = 0
    for (let state = beginPass(beginAt); state.nextPage > 0; asked += 1) {
      const first = (state.nextPage - 1) * 200
      const last = Math.min(total, first + 200) - 1
      const empty = first >= total
      const ends = empty ? {} : { oldest: timeAt(first), newest: timeAt(last) }
      state = advance(
        state,
        { page: state.nextPage, total, empty, ...ends },
        { known: { before: watermark } },
      )
    }
    return asked
  }

  test('costs at most two requests beyond the pages it has to read, for every alignment', () => {
    const step = (rows: number) => (rows % 200 > 2 && rows % 200 < 197 ? 7 : 1)
    for (let old = 0; old <= 401; old += step(old)) {
      for (let read = 1; read <= 605; read += step(read)) {
        const most = Math.ceil(read / 200) + 2
        const remembered = Math.max(1, Math.ceil(old / 200))
        for (const beginAt of [1, remembered, Math.ceil((old + read) / 200), 9])
          if (requests({ old, read, beginAt }) > most)
            expect({ old, read, beginAt, most }).toBe('within the bound')
      }
    }
  })

  test('costs one request when nothing changed and the list fits a page', () => {
    for (let old = 0; old <= 199; old += 1) expect(requests({ old, read: 1, beginAt: 1 })).toBe(1)
  })

  test('is not ended by an old row among rows that are out of order', () => {
    const answer = {
      page: 2,
      total: 400,
      empty: false,
      oldest: '2020-01-01T00:00:00Z',
      newest: '2026-01-01T00:00:00Z',
    }
    expect(
      advance(beginPass(2), { ...answer, inOrder: false }, { known: { before: watermark } }).nextPage,
    ).toBe(1)
    expect(advance(beginPass(2), answer, { known: { before: watermark } }).nextPage).toBe(0)
  })
})
