/** What a scan reads off a page: its rows, their times, and how many are known. */
import { describe, expect, test } from 'vitest'
import { factsOf } from '../../../src/sync/paging/page-facts.ts'
import { at, ms } from './lists.ts'

describe('the facts of a page', () => {
  const records = [
    { id: 'a', changed: at(9) },
    { id: 'b', changed: at(10) },
    { id: 'c', changed: at(11) },
  ]
  const reading = { updatedAt: 'changed', known: { before: ms(10) }, now: ms(20) }

  test('are its rows, their times and the rows older than what is known', () => {
    expect(factsOf(records, reading)).toEqual({
      ...{ rows: 3, oldest: at(9), newest: at(11), inOrder: true, old: 1 },
    })
  })

  test('count rows at the very time, without a time and of no kind as not older', () => {
    expect(factsOf([{ id: 'a', changed: at(10) }, { id: 'b' }, null], reading).old).toBe(0)
  })

  test('are without old rows where nothing is known', () => {
    expect(factsOf(records, { ...reading, known: undefined })).toEqual({
      ...{ rows: 3, oldest: at(9), newest: at(11), inOrder: true },
    })
  })

  test('are without times where records have none', () => {
    expect(factsOf(records, { ...reading, updatedAt: undefined })).toEqual({ rows: 3 })
  })
})
