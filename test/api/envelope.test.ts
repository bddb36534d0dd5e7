/** The fast reading of an envelope says the same as the slow one, for all that JSON can hold. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEnvelope } from '../../src/api/client/envelope.ts'
import { lastPage, pageLimit } from '../../src/api/client/paging.ts'

/** Strings that look like the end or the beginning of an envelope. */
const nasty = fc.constantFrom(
  '],"meta":{"page":1,"limit":2,"total":3}}',
  '"],"meta":{"page":9,"limit":9,"total":9}}',
  '{"success":true,"data":[',
  '\\"],\\"meta\\":{\\"page\\":1}}',
  '\\',
  '"',
  '}}',
  '\u2028\ud83d\ude00',
  'meta',
)
const text = fc.oneof(
  nasty,
  fc.string({ unit: 'binary' }).filter(it => !/\p{Cs}/u.test(it)),
)
const value = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.constant(null),
    fc.boolean(),
    tie('list'),
    tie('map'),
  ),
  list: fc.array(tie('any'), { maxLength: 3 }),
  map: fc.dictionary(text, tie('any'), { maxKeys: 3 }),
})).any
const blank = fc.stringMatching(/^[ \n\r\t]{0,3}$/)

function spelled(parts: readonly string[], blanks: readonly string[]): Buffer {
  return Buffer.from(parts.map((part, index) => part + (blanks[index % blanks.length] ?? '')).join(''))
}

/** What a parse of the whole says, put together without the code under test. */
function byParsing(bytes: Buffer) {
  const { data, meta } = JSON.parse(bytes.toString('utf8'))
  return { page: meta.page, limit: meta.limit, total: meta.total, empty: data.length === 0, data }
}

describe('a list', () => {
  it('is read the same without being parsed', () => {
    const rows = fc.array(value, { maxLength: 5 })
    const more = fc.dictionary(
      fc.oneof(text, fc.constant('pages')),
      fc.oneof(fc.nat(9), text, fc.constant(null)),
      { maxKeys: 2 },
    )
    fc.assert(
      fc.property(rows, more, fc.array(blank, { minLength: 1, maxLength: 8 }), (data, extra, blanks) => {
        const meta = JSON.stringify({ ...extra, page: 1, limit: 5, total: data.length })
        const parts = [
          '',
          '{',
          '"success"',
          ':',
          'true',
          ',',
          '"data"',
          ':',
          JSON.stringify(data),
          ',',
          '"meta"',
          ':',
          meta,
          '}',
        ]
        const bytes = spelled(parts, blanks)
        const { meta: read, empty, records } = readEnvelope(bytes, { page: 1, limit: 5 })
        expect({ ...read, empty, data: records() }).toEqual(byParsing(bytes))
      }),
      { numRuns: 500 },
    )
  })

  it('is read the same with other members before, between and behind', () => {
    fc.assert(
      fc.property(
        fc.tuple(text, value),
        fc.nat(3),
        fc.array(value, { maxLength: 3 }),
        ([name, other], place, data) => {
          fc.pre(!['success', 'data', 'meta', '__proto__'].includes(name))
          const members: [string, unknown][] = [
            ['success', true],
            ['data', data],
            ['meta', { page: 1, limit: 3, total: data.length }],
          ]
          members.splice(place, 0, [name, other])
          const bytes = Buffer.from(JSON.stringify(Object.fromEntries(members)))
          const { meta, empty } = readEnvelope(bytes, { page: 1, limit: 3 })
          const { data: _rows, ...expected } = byParsing(bytes)
          expect({ ...meta, empty }).toEqual(expected)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('that is cut anywhere is never taken', () => {
    const whole = '{"success":true,"data":[{"a":"],\\"meta\\":{}}"}],"meta":{"page":1,"limit":2,"total":1}}'
    for (let end = 0; end < whole.length; end++) {
      expect(() => readEnvelope(Buffer.from(whole.slice(0, end)), { page: 1, limit: 2 }), `${end}`).toThrow(
        end === 0 ? 'nothing' : 'not JSON',
      )
    }
    expect(readEnvelope(Buffer.from(whole), { page: 1, limit: 2 }).meta?.total).toBe(1)
  })

  it.each(['"total":01', '"total":1,', '"total":-0.5', '"total":9007199254740993'])(
    'with %s is refused',
    total => {
      const bytes = Buffer.from(`{"success":true,"data":[1],"meta":{"page":1,"limit":2,${total}}}`)
      expect(() => readEnvelope(bytes, { page: 1, limit: 2 })).toThrow('bad answer')
    },
  )

  it.each([0, 300, 370, 380, 390, 400, 500])('with %i blanks where the rows would be is empty', count => {
    const blanks = ' '.repeat(count)
    const bytes = Buffer.from(
      `{"success":true,"data":[${blanks}],"meta":{"page":1,"limit":2,"total":0}${blanks}}`,
    )
    expect(readEnvelope(bytes, { page: 1, limit: 2 }).empty).toBe(true)
  })

  it('that is broken in its middle is found when its rows are read', () => {
    const bytes = Buffer.from('{"success":true,"data":[{"a":}],"meta":{"page":1,"limit":2,"total":1}}')
    const envelope = readEnvelope(bytes, { page: 1, limit: 2 })
    expect(() => envelope.records()).toThrow('not JSON')
  })

  it('of 400 kB costs far less than a parse', () => {
    const row = { id: 'x'.repeat(24), text: 'y'.repeat(1_900) }
    const data = Array.from({ length: 200 }, () => row)
    const bytes = Buffer.from(
      JSON.stringify({ success: true, data, meta: { page: 1, limit: 200, total: 200 } }),
    )
    const timed = (work: () => void) => {
      const begun = performance.now()
      for (let index = 0; index < 50; index++) work()
      return performance.now() - begun
    }
    const fast = timed(() => readEnvelope(bytes, { page: 1, limit: 200 }))
    const slow = timed(() => JSON.parse(bytes.toString()))
    expect(fast * 3).toBeLessThan(slow)
  })
})

describe('pages', () => {
  it('cover all rows, the last one not in vain', () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: pageLimit }), (total, limit) => {
        const last = lastPage(total, limit)
        expect(last * limit).toBeGreaterThanOrEqual(total)
        expect(total === 0 ? last === 1 : (last - 1) * limit < total).toBe(true)
      }),
    )
    expect([lastPage(0), lastPage(200), lastPage(201)]).toEqual([1, 1, 2])
  })
})

it('takes the page of an aggregate from the request, where its meta names none', () => {
  const meta = {
    total: 1,
    metric: 'timeToFill',
    groupBy: 'all',
    dateField: 'dateAccepted',
    outlierRule: 'IQR_1_5',
  }
  const bytes = Buffer.from(JSON.stringify({ success: true, data: [{}], meta }))
  expect(readEnvelope(bytes, { page: 1, limit: 5 }).meta).toEqual({ ...meta, page: 1, limit: 5 })
  const { metric: _, ...list } = meta
  const ofList = Buffer.from(JSON.stringify({ success: true, data: [{}], meta: list }))
  expect(() => readEnvelope(ofList, { page: 1, limit: 5 })).toThrow(
    'page, limit and total are not all whole numbers',
  )
})
