/** Pages that are too large: read in parts that one answer confirms, or in smaller pages from then on. */
import { describe, expect, test } from 'vitest'
import { readEnvelope } from '../../../src/api/client/envelope.ts'
import { AnswerTooLarge } from '../../../src/api/client/errors.ts'
import { type LargePageRequest, LargePages } from '../../../src/api/client/large-pages.ts'
import type { RequestQuery } from '../../../src/api/client/redact.ts'
import type { ApiAnswer } from '../../../src/api/client/sender.ts'

interface Row {
  readonly id: string
  readonly updatedAt: string
  readonly size: number
}

const row = (id: number, size = 1): Row => ({ id: `r${id}`, updatedAt: 't1', size })
const rowsFrom = (count: number, size: (id: number) => number = () => 1): Row[] =>
  Array.from({ length: count }, (_, id) => row(id, size(id)))

/** Sizes are in units of a row: a page whose rows have more than 100 in all is too large. */
function listOf(rows: Row[], before: (rows: Row[], requests: number) => void = () => {}) {
  const asked: string[] = []
  const ask = async ({ page, limit, fields }: RequestQuery & LargePageRequest): Promise<ApiAnswer> => {
    asked.push(`${page}/${limit}${fields ? ` ${fields}` : ''}`)
    before(rows, asked.length)
    const shown = rows.slice((page - 1) * limit, page * limit)
    const size = shown.reduce((sum, one) => sum + one.size, 0)
    if (!fields && size > 100) throw new AnswerTooLarge({ request: 'GET /a' }, 100)
    const data = shown.map(({ id, updatedAt }) => (fields ? { id, updatedAt } : { id, updatedAt, x: 1 }))
    const bytes = Buffer.from(
      JSON.stringify({ success: true, data, meta: { page, limit, total: rows.length } }),
    )
    const fetchedAt = `answer ${asked.length}`
    return { bytes, envelope: readEnvelope(bytes, { page, limit }), fetchedAt }
  }
  return { asked, ask }
}

const named = (id: string) => `a record of more than 5000 bytes: {"id":"${id}","updatedAt":"t1"}`
const idsOf = ({ envelope }: ApiAnswer) =>
  (envelope.records() as (Row | string)[]).map(one => (typeof one === 'string' ? one : one.id))

const versions = 'id,updatedAt'

describe('a page that is not too large', () => {
  test('is asked for as it is', async () => {
    const { asked, ask } = listOf(rowsFrom(8))
    const page = await new LargePages(5_000).read('/a', { page: 2, limit: 4 }, ask)
    expect([idsOf(page), asked]).toEqual([['r4', 'r5', 'r6', 'r7'], ['2/4']])
  })

  test('that fails for another reason fails for that reason', async () => {
    const ask = async () => {
      throw new Error('gone')
    }
    await expect(new LargePages(9).read('/a', { page: 1, limit: 4 }, ask)).rejects.toThrow('gone')
  })
})

describe('one record that is too large', () => {
  test('is replaced by a text, and the page keeps its place, meta and time', async () => {
    const { asked, ask } = listOf(rowsFrom(8, id => (id === 5 ? 101 : 1)))
    const page = await new LargePages(5_000).read('/a', { page: 2, limit: 4 }, ask)
    expect(idsOf(page)).toEqual(['r4', named('r5'), 'r6', 'r7'])
    expect([page.envelope.meta, page.fetchedAt]).toEqual([{ page: 2, limit: 4, total: 8 }, 'answer 7'])
    expect(asked).toEqual(['2/4', '3/2', '5/1', '6/1', `6/1 ${versions}`, '4/2', `2/4 ${versions}`])
    expect(JSON.parse(page.bytes.toString()).data[0]).toEqual({ id: 'r4', updatedAt: 't1', x: 1 })
  })

  test('that is asked for alone is replaced by a text immediately', async () => {
    const { asked, ask } = listOf(rowsFrom(3, () => 101))
    const page = await new LargePages(5_000).read('/a', { page: 2, limit: 1 }, ask)
    expect([idsOf(page), asked]).toEqual([[named('r1')], ['2/1', `2/1 ${versions}`]])
  })

  test('that is gone by the time it is named leaves nothing', async () => {
    const { ask } = listOf(
      rowsFrom(1, () => 101),
      (rows, requests) => {
        if (requests === 2) rows.pop()
      },
    )
    const page = await new LargePages(5_000).read('/a', { page: 1, limit: 1 }, ask)
    expect([idsOf(page), page.envelope.meta?.total]).toEqual([[], 0])
  })

  test('in a part that is not full leaves the other parts empty', async () => {
    const { ask } = listOf(rowsFrom(5, id => (id === 4 ? 101 : 1)))
    const page = await new LargePages(5_000).read('/a', { page: 2, limit: 4 }, ask)
    expect(idsOf(page)).toEqual([named('r4')])
  })

  test('that fails otherwise when it is asked for in parts fails so', async () => {
    const { ask } = listOf(
      rowsFrom(4, () => 101),
      (_rows, requests) => {
        if (requests === 2) throw new Error('gone')
      },
    )
    await expect(new LargePages(9).read('/a', { page: 1, limit: 4 }, ask)).rejects.toThrow('gone')
  })

  test('of which even id and time are too large fails', async () => {
    const ask = async () => {
      throw new AnswerTooLarge({ request: 'GET /a' }, 9)
    }
    await expect(new LargePages(9).read('/a', { page: 1, limit: 1 }, ask)).rejects.toThrow(AnswerTooLarge)
  })
})

test('a page is halved while it is even, then cut in five, then into single records', async () => {
  const { asked, ask } = listOf(rowsFrom(210, id => (id === 0 ? 101 : 0)))
  const page = await new LargePages(500_000).read('/a', { page: 1, limit: 200 }, ask)
  expect(idsOf(page)).toHaveLength(200)
  expect(asked.slice(0, 7)).toEqual(['1/200', '1/100', '1/50', '1/25', '1/5', '1/1', `1/1 ${versions}`])
  const odd = listOf(rowsFrom(9, id => (id === 0 ? 101 : 0)))
  await new LargePages(500_000).read('/a', { page: 1, limit: 3 }, odd.ask)
  expect(odd.asked.slice(0, 3)).toEqual(['1/3', '1/1', `1/1 ${versions}`])
})

describe('a list of large records', () => {
  test('is read in smaller pages from then on, by path', async () => {
    const { asked, ask } = listOf(rowsFrom(8, () => 30))
    // Four rows of 34 bytes each.
    const pages = new LargePages(100)
    const first = await pages.read('/a', { page: 1, limit: 4 }, ask)
    expect([first.envelope.meta, idsOf(first)]).toEqual([{ page: 1, limit: 2, total: 8 }, ['r0', 'r1']])
    const before = asked.length
    await pages.read('/a', { page: 2, limit: 4 }, ask)
    await pages.read('/a', { page: 2, limit: 1 }, ask)
    expect(asked.slice(before)).toEqual(['2/2', '2/1'])
    const others = asked.length
    await pages.read('/b', { page: 1, limit: 2 }, ask)
    await pages.read('/b', { page: 1, limit: 3 }, ask)
    expect(asked.slice(others)).toEqual(['1/2', '1/3'])
  })

  test.each([
    [0, 4],
    [1, 1],
  ])('is read whole unless its rows have %i bytes too many: a page of %i', async (excess, limit) => {
    const { ask } = listOf(rowsFrom(2, () => 60))
    const bytes = 2 * '{"id":"r0","updatedAt":"t1","x":1}'.length
    const page = await new LargePages(bytes - excess).read('/a', { page: 1, limit: 4 }, ask)
    expect(page.envelope.meta?.limit).toBe(limit)
  })
})

describe('records that move while parts are read', () => {
  const big = (id: number): number => (id === 3 ? 101 : 1)

  test('after the first answer make the page that the parts show', async () => {
    const { asked, ask } = listOf(rowsFrom(8, big), (rows, requests) => {
      if (requests === 2) rows.splice(0, 1)
    })
    const page = await new LargePages(5_000).read('/a', { page: 1, limit: 4 }, ask)
    expect(page.envelope.meta?.limit).toBe(4)
    expect(idsOf(page)).toEqual(['r1', 'r2', named('r3'), 'r4'])
    expect(asked.filter(one => one === `1/4 ${versions}`)).toHaveLength(1)
  })

  test('between two parts are read again, and the page shows the second reading', async () => {
    const { asked, ask } = listOf(rowsFrom(8, big), (rows, requests) => {
      if (requests === 3) rows.splice(0, 1)
    })
    const page = await new LargePages(5_000).read('/a', { page: 1, limit: 4 }, ask)
    expect(idsOf(page)).toEqual(['r1', 'r2', named('r3'), 'r4'])
    expect(asked.filter(one => one === `1/4 ${versions}`)).toHaveLength(2)
  })

  test('whenever they are read lead to smaller pages', async () => {
    const { asked, ask } = listOf(rowsFrom(8, big), (rows, requests) => {
      rows[0] = { ...(rows[0] as Row), updatedAt: `t${requests}` }
    })
    const page = await new LargePages(5_000).read('/a', { page: 1, limit: 4 }, ask)
    expect(page.envelope.meta?.limit).toBe(2)
    expect(asked.filter(one => one === `1/4 ${versions}`)).toHaveLength(2)
  })

  test('in another order are the same records', async () => {
    const { ask } = listOf(rowsFrom(4, big), (rows, requests) => {
      if (requests === 7) rows.reverse()
    })
    const page = await new LargePages(5_000).read('/a', { page: 1, limit: 4 }, ask)
    expect([page.envelope.meta?.limit, page.fetchedAt]).toEqual([4, 'answer 7'])
  })

  test('shown twice by both are rejected', async () => {
    const rows = rowsFrom(4, big)
    rows[1] = rows[0] as Row
    const { ask } = listOf(rows)
    const page = await new LargePages(5_000).read('/a', { page: 1, limit: 4 }, ask)
    expect(page.envelope.meta?.limit).toBe(2)
  })
})

test('rows whose bytes are not where they should be are serialised again', async () => {
  const { ask } = listOf(rowsFrom(4, id => (id === 3 ? 101 : 1)))
  const turned = async (query: RequestQuery & LargePageRequest): Promise<ApiAnswer> => {
    const answer = await ask(query)
    const { data, meta } = JSON.parse(answer.bytes.toString())
    const bytes = Buffer.from(JSON.stringify({ success: true, meta, data: data.length === 0 ? [] : data }))
    return { ...answer, bytes, envelope: readEnvelope(bytes, query) }
  }
  const page = await new LargePages(5_000).read('/a', { page: 1, limit: 4 }, turned)
  expect(idsOf(page)).toEqual(['r0', 'r1', 'r2', named('r3')])
})

test('a value that is no record has no version', async () => {
  const ask = async ({ page, limit, fields }: RequestQuery & LargePageRequest): Promise<ApiAnswer> => {
    if (!fields && limit > 1) throw new AnswerTooLarge({ request: 'r' }, 9)
    const data = limit === 1 ? [page === 1 ? null : { id: 'r1' }] : [null, { id: 'r1' }]
    const bytes = Buffer.from(JSON.stringify({ success: true, data, meta: { page, limit, total: 2 } }))
    return { bytes, envelope: readEnvelope(bytes, { page, limit }), fetchedAt: '' }
  }
  const page = await new LargePages(5_000).read('/a', { page: 1, limit: 2 }, ask)
  expect(page.envelope.records()).toEqual([null, { id: 'r1' }])
})
