/** Pages that are too large: one large record gives way to a text, and a list of large ones is read in smaller pages. */
import { expect, test } from 'vitest'
import { failure, json, withClient } from './service.ts'

const cap = 20_000

const record = (index: number, bytes: number) => ({ id: `r${index}`, text: 'x'.repeat(bytes) })

/** 450 records, of which `sizes` says how large they are; how often it was asked is counted. */
function listOf(size: (index: number) => number) {
  const asked: string[] = []
  const handler: Parameters<typeof withClient>[0] = ({ query }, response) => {
    const [page, limit] = [Number(query.get('page')), Number(query.get('limit'))]
    asked.push(`${page}/${limit}`)
    const indexes = Array.from({ length: 450 }, (_, index) => index).slice((page - 1) * limit, page * limit)
    const data = indexes.map(index =>
      query.get('fields') === 'id' ? { id: `r${index}` } : record(index, size(index)),
    )
    json(response, 200, { success: true, data, meta: { page, limit, total: 450 } })
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
