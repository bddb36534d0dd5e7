/** What the proof of a scan costs beside its pages: docs/paging.md, Cost. */
import { describe, expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { ChangingList, lag, type Page, type Row } from './changing-list.ts'
import { type ModelledScan, modelScan } from './modelled-scan.ts'

const weather = { change: 0, insert: 0, remove: 0, bulk: 0, late: 0, shuffle: 0, tie: 0 }
const pageSize = 3

/** Changes before its second request, and at rest otherwise. */
class OnceChanging extends ChangingList {
  readonly #change: ((list: OnceChanging) => void) | undefined
  #isFirst = true

  constructor(rows: number, change?: (list: OnceChanging) => void) {
    super({ ...weather, rows, pageSize }, seededRng(1))
    // None is younger than the lookback but the last one.
    const first = this.now
    this.rows = this.rows.map((row, index) => {
      const at = first + index * 2 * lag
      return { ...row, created: at, updated: at }
    })
    this.now = first + rows * 2 * lag
    this.#change = change
  }

  override ask(...asked: Parameters<ChangingList['ask']>): Page {
    if (!this.#isFirst) this.#change?.(this)
    const answer = super.ask(...asked)
    if (this.#isFirst) this.#isFirst = false
    return answer
  }

  moveToEnd(index: number): void {
    this.now += lag
    const row = this.rows[index] as Row
    if (row.version === 1) this.rows[index] = { ...row, updated: this.now, version: 2 }
  }
}

/** Requests of a scan that must be accepted. */
async function cost(list: OnceChanging, job: Partial<ModelledScan> = {}): Promise<number> {
  const { decision, requests } = await modelScan(list, { kind: 'loaded', pageSize, ...job })
  expect(decision).toBe('accepted')
  return requests
}

const knownFrom = ({ rows }: ChangingList, index: number): Pick<ModelledScan, 'known'> => {
  const at = (rows[index] as Row).updated
  return { known: { before: at, reached: at } }
}

describe('a scan', () => {
  test('of a list at rest costs its pages, and one more where the last page is full', async () => {
    expect(await cost(new OnceChanging(10))).toBe(4)
    expect(await cost(new OnceChanging(12))).toBe(4 + 1)
  })

  test('of a complete list costs one more where a record moves to the end meanwhile', async () => {
    const moving = new OnceChanging(10, list => list.moveToEnd(4))
    expect(await cost(moving)).toBe(4 + 1)
  })

  test('of changes over several pages asks again for the page where it ends, and three times more where a record moves', async () => {
    const resting = new OnceChanging(16)
    const pages = await cost(resting, knownFrom(resting, 7))
    expect(pages).toBe(4 + 1)
    const moving = new OnceChanging(16, list => list.moveToEnd(11))
    expect(await cost(moving, knownFrom(moving, 7))).toBe(pages + 3)
  })

  test('passes again where a record is deleted before it was seen', async () => {
    let isGone = false
    const losing = new OnceChanging(10, list => {
      if (!isGone) list.rows.splice(1, 1)
      isGone = true
    })
    expect(await cost(losing)).toBeGreaterThan(4)
  })
})

describe('a sweep', () => {
  test('of one page asks for it twice, of several costs its pages', async () => {
    expect(await cost(new OnceChanging(2), { kind: 'sweep' })).toBe(2)
    expect(await cost(new OnceChanging(10), { kind: 'sweep' })).toBe(4)
  })

  test('passes again where more than a page is younger than the lookback', async () => {
    const young = new OnceChanging(10)
    const from = young.now - lag
    young.rows = young.rows.map((row, index) =>
      index < 5 ? row : { ...row, created: from + index, updated: from + index },
    )
    expect(await cost(young, { kind: 'sweep' })).toBeGreaterThan(4)
  })
})
