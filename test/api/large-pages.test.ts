/** Pages that are too large: one large record gives way to a text, and a list of large ones is read in smaller pages. */
import { expect, test } from 'vitest'
import { failure, json, withClient } from '../support/http-service.ts'

const cap = 20_000

const record = (index: number, bytes: number) => ({ id: `r${index}`, text: 'x'.repeat(bytes) })

/** 450 records, of which `size` says how large they are; `before` a request the list may change. Notes what was asked. */
function listOf(
  size: (index: number) => number,
  before: (list: number[], requests: number) => void = () => {},
) {
  const asked: string[] = []
  const list = Array.from({ length: 450 }, (_, index) => index)
  const handler: Parameters<typeof withClient>[0] = ({ query }, response) => {
    const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))]
    asked.push(`${page}/${limit}`)
    before(list, asked.length)
    const data = list
      .slice((page - 1) * limit, page * limit)
      .map(index =>
        query.get('fields') === 'id,updatedAt' ? { id: `r${index}` } : record(index, size(index)),
      )
    json(response, 200, { success: true, data, meta: { page, limit, total: list.length } })
  }
  return { asked, handler }
}

const ids = (rows: readonly unknown[]) =>
  rows.map(row => (typeof row === 'string' ? row : (row as { id: string }).id))

test('two records that are too large give way to texts that name them, and the page keeps its place', async () => {
  const { asked, handler } = listOf(index => (index === 230 || index === 399 ? cap : 1))
  await withClient(
    handler,
    async client => {
      const { meta, records } = await client.getPage('/timesheets', { page: 2, limit: 200 })
      expect(meta).toEqual({ page: 2, limit: 200, total: 450 })
      const rows = ids(records())
      const expected = Array.from({ length: 200 }, (_, index) => `r${200 + index}`)
      const says = (id: string) => `a record of more than ${cap} bytes: {"id":"${id}"}`
      expect(rows).toEqual(expected.map(id => (id === 'r230' || id === 'r399' ? says(id) : id)))
      expect(asked.length).toBeLessThan(60)
      expect(ids((await client.getPage('/timesheets', { page: 3, limit: 200 })).records())).toHaveLength(50)
    },
    { fetchOptions: { maxBytes: cap } },
  )
})

test('one record moves to the end and another comes between two parts: the page shows a state that there was', async () => {
  const states: string[][] = []
  const { asked, handler } = listOf(
    index => (index === 30 ? cap : 1),
    (list, requests) => {
      // The total stays: without a second look nothing tells that a record slid from a part not read into one that was.
      if (requests === 3) list.splice(0, 1, list.length + requests)
      if (requests === 5) list.splice(0, 1)
      if (requests === 5) list.push(1_000)
      states.push(list.slice(0, 200).map(index => `r${index}`))
    },
  )
  await withClient(
    handler,
    async client => {
      const page = await client.getPage('/timesheets', { page: 1, limit: 200 })
      const shown = ids(page.records()).map(id => /"id":"(r\d+)"/.exec(id)?.[1] ?? id)
      expect(shown).toEqual(states.at(-1)?.slice(0, page.meta.limit))
      expect(asked.length).toBeLessThan(60)
    },
    { fetchOptions: { maxBytes: cap } },
  )
})

test('a list that moves with every request is read in pages that one answer fills', async () => {
  const { handler } = listOf(
    index => (index % 40 === 30 ? cap : 1),
    list => {
      list.push((list.at(-1) as number) + 1)
      list.shift()
    },
  )
  await withClient(
    handler,
    async client => {
      const { meta, records } = await client.getPage('/timesheets', { page: 1, limit: 200 })
      expect(records()).toHaveLength(meta.limit)
      expect(meta.limit).toBeLessThan(200)
    },
    { fetchOptions: { maxBytes: cap } },
  )
})

test('a page of the one record that is too large names it', async () => {
  const { handler } = listOf(() => cap)
  await withClient(
    handler,
    async client => {
      const { records } = await client.getPage('/timesheets', { page: 7, limit: 1 })
      expect(records()).toEqual([`a record of more than ${cap} bytes: {"id":"r6"}`])
    },
    { fetchOptions: { maxBytes: cap } },
  )
})

test('a list of large records is read in smaller pages, which say so', async () => {
  const { asked, handler } = listOf(() => 300)
  await withClient(
    handler,
    async client => {
      const first = await client.getPage('/timesheets', { page: 1, limit: 200 })
      expect([first.meta, ids(first.records()).length]).toEqual([{ page: 1, limit: 50, total: 450 }, 50])
      const before = asked.length
      const second = await client.getPage('/timesheets', { page: 2, limit: 200 })
      expect([second.meta.limit, ids(second.records())[0]]).toEqual([50, 'r50'])
      expect(asked.slice(before)).toEqual(['2/50'])
    },
    { fetchOptions: { maxBytes: cap } },
  )
})

test('a single record that is too large is an error, sent once', async () => {
  let asked = 0
  await withClient(
    (_, response) => {
      asked += 1
      json(response, 200, { success: true, data: record(1, cap) })
    },
    async client => {
      const { message } = await failure(client.getRecord('/trades/r1'))
      expect([message, asked]).toEqual([expect.stringContaining(`more than ${cap} bytes`), 1])
    },
    { fetchOptions: { maxBytes: cap } },
  )
})
