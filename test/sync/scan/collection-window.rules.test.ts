/** What a scan of a list teaches the next one, and what it says when it is refused. */
import { describe, expect, test } from 'vitest'
import type { WatermarkRow } from '../../../src/state/scans/tables.ts'
import { learnPaging, refusal } from '../../../src/sync/scan/collection-window.ts'
import { rulesWarehouse } from '../../support/rules-warehouse.ts'
import { readings, time } from './reading.ts'

const warehouse = rulesWarehouse()
const begin = readings(warehouse)

describe('what a scan has found of the paging of its list', () => {
  const learnt = async (before: Partial<WatermarkRow>, found: Parameters<typeof learnPaging>[2]) => {
    const { task, setWatermark, watermark } = await begin()
    await setWatermark({ watermark: time('01-01'), ...before })
    await learnPaging(warehouse.engine, task, found)
    const { page_size: size, hidden_rows: hidden, watermark: at } = (await watermark()) ?? {}
    expect(at).toBe(time('01-01'))
    return { size: size && Number(size), hidden: hidden && Number(hidden), note: task.counters.note }
  }
  const hides = (rows: string) => `the service counts ${rows} that it shows on no page`

  test.each([
    ['fewer by a part', 3, { hiddenRows: 1, isFullList: false }, 3, null],
    ['none by a part', 3, { hiddenRows: 0, isFullList: false }, 3, null],
    ['more by a part', 3, { hiddenRows: 4, isFullList: false }, 4, hides('4 records')],
    ['some by a part, the first time', null, { hiddenRows: 2, isFullList: false }, 2, hides('2 records')],
    ['fewer by the whole list', 3, { hiddenRows: 1, isFullList: true }, 1, hides('1 record')],
    ['more by the whole list', 3, { hiddenRows: 4, isFullList: true }, 4, hides('4 records')],
    ['none by the whole list', 3, { hiddenRows: 0, isFullList: true }, null, hides('0 records')],
    ['as many by the whole list', 3, { hiddenRows: 3, isFullList: true }, 3, null],
  ])('of hidden rows is %s', async (...[, before, found, hidden, note]) => {
    const paging = { pageSize: 200, ...found }
    expect(await learnt({ hidden_rows: before }, paging)).toEqual({ size: null, hidden, note })
  })

  test.each([
    ['a smaller page', null, 50, 50, 'the service returns at most 50 records a page'],
    ['a page of the usual size again', 50, 200, null, 'the service returns at most 200 records a page'],
    ['a page as it was', 50, 50, 50, null],
  ])('is %s', async (...[, before, pageSize, size, note]) => {
    const found = { pageSize, hiddenRows: 0, isFullList: false }
    expect(await learnt({ page_size: before }, found)).toEqual({ size, hidden: null, note })
  })
})

describe('a refused scan', () => {
  const again = 'everything read so far is loaded; run muster sync again'
  const usual = `${again}, and report it to the service if it persists`

  test.each([
    ['lacks rows', {}, undefined, [3, 5, 'the list did not show more in 14 passes'], 2],
    [
      'lacks one',
      { distinct_ids: 4, attempt: 1 },
      undefined,
      [4, 5, 'the list did not show more in 1 pass'],
      1,
    ],
    ['lacks none', { distinct_ids: 5 }, undefined, [5, 5, 'the list did not show more in 14 passes'], 0],
    ['showed more', { distinct_ids: 6 }, undefined, [6, 5, 'the list did not show more in 14 passes'], 0],
    ['contradicts itself', {}, 'page 2 was empty', [3, 5, 'page 2 was empty'], 0],
  ])(
    'that %s says so, and offers --hidden where rows may be hidden',
    async (...[, row, contradiction, words, hides]) => {
      const { task, openScan } = await begin()
      const facts = { scan_id: 's', distinct_ids: 3, expected_ids: 5, attempt: 14, ...row }
      const written = await openScan(facts)
      // What the caller holds is from before the last batch.
      const stale = { ...written, distinct_ids: 0, expected_ids: 0, attempt: 1 }
      const [seen, expected, reason] = words
      const offer = `${again}; if the service hides them, muster sync sites --hidden ${hides}`
      const what = `sites (saw ${seen} of ${expected}) incomplete: ${reason}`
      expect((await refusal(task, stale, contradiction)).message).toBe(
        `${what}: ${hides > 0 ? offer : usual}`,
      )
    },
  )
})
