/** What of a record counts as content, as bookkeeping of the service, or not at all. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Resource } from '../../../src/contract/fields/resource.ts'
import { rulesStage } from '../rules-stage.ts'
import { cask, casks, time } from './casks.ts'
import { boxes } from './vessels.ts'

const stage = rulesStage()

/** The hash of the content, and that of the bookkeeping. */
async function hashes(record: object, resource: Resource = casks): Promise<readonly string[]> {
  await stage.stage(resource, [stage.pageOf([record])])
  const [row] = await stage.rows(`select row_hash from stage_record`)
  return String(row?.row_hash).split('-')
}

let base: readonly string[]
beforeAll(async () => {
  base = await hashes(cask())
})

describe('a difference', () => {
  test.each([
    ['in a field is content', { name: 'y' }, 'content'],
    ['in the time of change is bookkeeping', { updatedAt: time(3) }, 'bookkeeping'],
    ['in the version is bookkeeping', { version: 2 }, 'bookkeeping'],
    ['in a field that moves with the clock is none', { moved: 'fast' }, 'none'],
    ['in the order of the keys of a document is none', { spec: { b: { c: 2 }, a: 1 } }, 'none'],
    ['in a document is content', { spec: { a: 1, b: { c: 3 } } }, 'content'],
    [
      'in a time of change inside a document is bookkeeping',
      { spec: { a: 1, b: { c: 2 }, updatedAt: time(4) } },
      'bookkeeping',
    ],
    [
      'in a deeper time of change is bookkeeping',
      { spec: { a: 1, b: { c: 2, updatedAt: 7 } } },
      'bookkeeping',
    ],
    ['in a key that ends like one is content', { spec: { a: 1, b: { c: 2, notupdatedAt: 7 } } }, 'content'],
    ['in an undeclared field is content', { other: 1 }, 'content'],
    [
      'in an element of a list is content',
      { marks: [{ mark: 'n', kind: 'red', extra: { e: 1 } }] },
      'content',
    ],
    ['in the number of elements is content', { marks: [] }, 'content'],
    [
      'in the bookkeeping of an element is bookkeeping',
      { marks: [{ mark: 'm', kind: 'red', seen: 'x', extra: { e: 1 } }] },
      'bookkeeping',
    ],
    [
      'in what moves in an element is none',
      { marks: [{ mark: 'm', kind: 'red', moved: 'x', extra: { e: 1 } }] },
      'none',
    ],
    [
      'in a document of an element is content',
      { marks: [{ mark: 'm', kind: 'red', extra: { e: 2 } }] },
      'content',
    ],
    [
      'in a time of change in a document of an element is bookkeeping',
      { marks: [{ mark: 'm', kind: 'red', extra: { e: 1, updatedAt: 'x' } }] },
      'bookkeeping or content',
    ],
    ['in which of two lists holds an element is content', { marks: [], stains: [{ mark: 'm' }] }, 'content'],
  ])('%s', async (...[, parts, kind]) => {
    const [content, bookkeeping] = base
    const [otherContent, otherBookkeeping] = await hashes(cask(parts))
    const found =
      otherContent !== content ? 'content' : otherBookkeeping !== bookkeeping ? 'bookkeeping' : 'none'
    expect(kind).toContain(found)
  })
})

test('a time of change in a document of an element is the same content whatever it is', async () => {
  const marked = (updatedAt: unknown) => cask({ marks: [{ mark: 'm', extra: { e: 1, updatedAt } }] })
  const [first, second, third] = [
    await hashes(marked('x')),
    await hashes(marked(null)),
    await hashes(marked(123)),
  ]
  expect([second?.[0], third?.[0]]).toEqual([first?.[0], first?.[0]])
  expect(new Set([first?.[1], second?.[1], third?.[1]]).size).toBe(3)
})

test('a figure of a list counts by the elements of the list: what moves in them is no difference', async () => {
  const box = (tilt: number) => ({ id: 'a', lids: [{ colour: 'red', tilt }] })
  const level = await hashes(box(0), boxes)
  expect(await stage.rows('select steepest from stage.stage_0')).toEqual([{ steepest: '0.0000' }])
  expect(await hashes(box(1), boxes)).toEqual(level)
})
