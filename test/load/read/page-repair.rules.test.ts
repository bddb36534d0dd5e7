/** How pages are made readable, and which of their records are left out. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { knownFields } from '../../../src/load/page/known-fields.ts'
import { defaultLimits, SeenPaths } from '../../../src/load/page/record-limits.ts'
import { BatchFiles } from '../../../src/load/read/batch-files.ts'
import {
  type PagesToRepair,
  PageUnreadable,
  type ReadablePages,
  readablePages,
  unreadableAmong,
} from '../../../src/load/read/page-repair.ts'
import { type PageFile, positionsPerPage } from '../../../src/load/read/pages.ts'
import { resourceOf } from '../../support/rules-warehouse.ts'
import { casks } from './casks.ts'
import { vessels } from './vessels.ts'

const folder = mkdtempSync(join(tmpdir(), 'muster-rules-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

let count = 0
function page(text: string | Buffer, parts: Partial<PageFile> = {}): PageFile {
  count += 1
  const own = join(folder, String(count), 'scan')
  mkdirSync(own, { recursive: true })
  const file = join(own, 'page.json')
  writeFileSync(file, text)
  return {
    file,
    bytes: Buffer.byteLength(text),
    fetchedAt: '2026-05-01T00:00:00.000Z',
    runId: 'run-1',
    scope: {},
    ...parts,
  }
}
/** A page that is a part of another file. */
function inside(text: string): PageFile {
  const archive = page(`before${text}after`)
  const bytes = Buffer.byteLength(text)
  const within = { file: archive.file, start: 6, bytes }
  return { ...archive, file: join(folder, String(count), 'inside.json'), bytes, within }
}

const of = (...records: readonly string[]): string => `{"data":[${records.join(',')}]}`

const read = (pages: readonly PageFile[], parts: Partial<PagesToRepair> = {}): Promise<ReadablePages> =>
  readablePages({
    ...{ pages, rows: 'data', known: knownFields(casks.table) },
    bounds: { limits: defaultLimits, seen: new SeenPaths(defaultLimits.paths) },
    ...parts,
  })

/** What lies beside the folder of the page. */
const besides = ({ file }: PageFile): string[] => readdirSync(dirname(dirname(file)))

const textOf = ({ file }: PageFile): string => readFileSync(file, 'utf8')

/** Larger than a page that is joined with others. */
const large = `{"id":"large","name":"${'x'.repeat(65_536)}"}`

describe('a page', () => {
  test('that DuckDB reads as it is passes through untouched', async () => {
    const one = page(of('{"id":"a"}'))
    const { pages, trouble, leaves, drift } = await read([one])
    expect(pages).toEqual([{ ...one, isLine: true }])
    expect({ trouble, leaves, drift }).toEqual({ trouble: [], leaves: undefined, drift: [] })
    expect(besides(one)).toEqual(['scan'])
  })

  test.each([
    ['without a line feed', '{"data":[]}', true],
    ['with one at its end', '{"data":[]}\n', true],
    ['with one before its end', '{"data":[]\n}', false],
    ['with two at its end', '{"data":[]}\n\n', false],
  ])('%s is a single line: %s', async (_, text, isLine) => {
    expect((await read([page(text)])).pages[0]?.isLine).toBe(isLine)
  })

  test('with text that no engine stores is copied without it, and its record is left out', async () => {
    const one = page(of('{"id":"a"}', '{"id":"b","name":"x\\u0000y"}'))
    const { pages, trouble, cleanUp } = await read([one])
    const [copy] = pages as [PageFile]
    expect(textOf(copy)).toBe(of('{"id":"a"}', '{"id":"b","name":"x\\ufffd0000y"}'))
    expect(copy).toMatchObject({ isLine: true, runId: 'run-1', bytes: textOf(copy).length })
    expect(trouble).toEqual([
      {
        ...{ locator: positionsPerPage + 2, page: one, payload: '{"id":"b","name":"x\\u0000y"}' },
        faults: [{ path: '', text: null, reason: 'text with a NUL character' }],
      },
    ])
    cleanUp()
    expect(besides(one)).toEqual(['scan'])
  })

  test('with bytes that are not UTF-8 is copied as well', async () => {
    const bytes = Buffer.from(of('{"id":"a","name":"?"}'))
    bytes[bytes.indexOf('?')] = 0xff
    const { pages, trouble, cleanUp } = await read([page(bytes)])
    expect(textOf(pages[0] as PageFile)).toContain('\ufffd')
    expect(trouble).toHaveLength(1)
    cleanUp()
  })

  test('that is no JSON cannot be loaded: the page is named and nothing is left behind', async () => {
    const [good, bad] = [page(of(large)), page('{"data":[{"id":')]
    const error = await read([good, bad]).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(PageUnreadable)
    expect(error).toMatchObject({ name: 'PageUnreadable', page: bad, pages: [bad] })
    expect(String(error)).toMatch(/^PageUnreadable: a page cannot be loaded: .*page\.json: \w/)
    expect(besides(good)).toEqual(['scan'])
  })

  test('of which a file has only a part is read from that part', async () => {
    const text = of('{"id":"a"}')
    const { pages, cleanUp } = await read([inside(text)])
    expect(pages.map(textOf)).toEqual([text])
    expect(pages[0]).toMatchObject({ within: undefined, bytes: text.length })
    cleanUp()
  })

  test('that is shorter than it was is read to its end', async () => {
    const one = page(of('{"id":"a"}'))
    const { pages } = await read([{ ...one, bytes: one.bytes + 10 }])
    expect(pages[0]?.isLine).toBe(true)
  })
})

test.each([
  [new Error('first line\nsecond line'), 'first line'],
  ['a text', 'a text'],
])('the first line of %j says why a page cannot be loaded', (cause, why) => {
  const [one, other] = [page('{'), page('{')]
  const error = new PageUnreadable([one, other], cause)
  expect(error).toMatchObject({ page: one, pages: [one, other], cause })
  expect(error.message).toBe(`a page cannot be loaded: ${one.file}: ${why}`)
})

test('a failure that is not of the page is what it is', async () => {
  const known = new Proxy(knownFields(casks.table), {
    get() {
      throw new RangeError('of the search')
    },
  })
  const failed = read([page(of('{"id":"a","name":"x"}'))], { known })
  await expect(failed).rejects.toThrow(
    expect.objectContaining({ name: 'RangeError', message: 'of the search' }),
  )
})

test('a number too long for a double is noticed, whatever comes after it', async () => {
  const [short, long] = ['{"id":"a","version":1}', '{"id":"b","other":1,"mass":87653255.4}']
  const known = knownFields(vessels.table)
  const hasLong = async (...records: readonly string[]) => {
    const found = await read([page(of(...records))], { known })
    found.cleanUp()
    return found.hasLong
  }
  expect([await hasLong(short), await hasLong(long), await hasLong(long, short)]).toEqual([false, true, true])
})

test.runIf(existsSync('/proc/self/fd'))('no file stays open', async () => {
  const { cleanUp } = await read([page(of('{"id":"a"}')), page(of('{"id":"b","name":"x\\u0000y"}'))])
  const targets = readdirSync('/proc/self/fd').map(name => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      // Closed since the folder was read: the one that read it.
      return ''
    }
  })
  expect(targets.filter(target => target.startsWith(folder))).toEqual([])
  cleanUp()
})

describe('several pages', () => {
  test('that are small are joined in one file, a line each, by their number', async () => {
    const [first, second] = [page(of('{"id":"a"}')), page(`${of('{"id":"b"}')}\n`)]
    const { pages, cleanUp } = await read([first, second])
    const [joined] = pages.map(one => one.joined)
    expect(pages.map(({ file, joined: own }) => [file, own])).toEqual([
      [first.file, joined],
      [second.file, joined],
    ])
    expect(readFileSync(String(joined), 'utf8')).toBe(
      '{"#page":1,"data":[{"id":"a"}]}\n{"#page":2,"data":[{"id":"b"}]}\n',
    )
    cleanUp()
    expect(existsSync(String(joined))).toBe(false)
  })

  test('of which one is large, or no line, stay files of their own', async () => {
    for (const odd of [of(large), '{"data":[\n]}']) {
      const { pages, cleanUp } = await read([page(of('{"id":"a"}')), page(odd)])
      expect(pages.map(({ joined }) => joined)).toEqual([undefined, undefined])
      cleanUp()
    }
  })

  test('that are parts of a file and fit into one are not copied beside it, and are otherwise', async () => {
    const whole = await read([inside(of('{"id":"a"}')), inside(of('{"id":"b"}'))])
    expect(whole.pages.every(({ joined, within }) => joined && within)).toBe(true)
    whole.cleanUp()
    const parted = await read([inside(of('{"id":"a"}')), inside('{"data":[\n]}')])
    expect(parted.pages.map(textOf)).toEqual([of('{"id":"a"}'), '{"data":[\n]}'])
    parted.cleanUp()
  })

  test('have records with a place of their own each, and one report of drift', async () => {
    const [first, second] = [
      page(of('{"id":"a","other":1}', '7')),
      page(of('{"id":"b","other":2}', '{"id":"c"}', '8')),
    ]
    const { trouble, drift, leaves, cleanUp } = await read([first, second])
    expect(trouble.map(({ locator, page: on, payload }) => [locator, on.file, payload])).toEqual([
      [positionsPerPage + 2, first.file, '7'],
      [2 * positionsPerPage + 3, second.file, '8'],
    ])
    expect(drift.filter(({ path }) => path === 'other')).toHaveLength(1)
    const file = /read_json\(\['([^']+)'/.exec(String(leaves))?.[1]
    const lines = readFileSync(String(file), 'utf8')
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines.map(({ l, p, v }) => [l, p, v])).toEqual([
      [positionsPerPage + 1, 'other', '1'],
      [2 * positionsPerPage + 1, 'other', '2'],
    ])
    cleanUp()
  })
})

describe('a record to leave out', () => {
  test('is replaced by its id, with the reason that was found', async () => {
    const one = page(of('{"id":"a"}', '{"id":"b","name":"x"}'))
    const leftOut = new Map([[one.file, new Map([[2, 'too odd']])]])
    const { pages, trouble, cleanUp } = await read([one, page(of('{"id":"c"}'))], { leftOut })
    expect(trouble).toEqual([
      {
        ...{ locator: positionsPerPage + 2, page: one, payload: '{"id":"b","name":"x"}' },
        faults: [{ path: '', text: null, reason: 'too odd' }],
      },
    ])
    expect(textOf(pages[0] as PageFile)).toBe(of('{"id":"a"}', '{"id":"b"}'))
    cleanUp()
  })

  test.each([
    [65_536, 65_536],
    [65_537, 65_536],
  ])('has a payload of at most 65,536 characters: of %i, %i', async (length, kept) => {
    const record = `{"id":"b","name":"${'x'.repeat(length - 20)}"}`
    const one = page(of('{"id":"a"}', record))
    const { trouble, cleanUp } = await read([one], { leftOut: new Map([[one.file, new Map([[2, 'odd']])]]) })
    expect([record.length, trouble[0]?.payload.length]).toEqual([length, kept])
    cleanUp()
  })

  test.each([
    [100_000, 65_536],
    [99_999, 65_536],
    [100_001, 100_001],
  ])(
    'larger than a record may be has the beginning of its JSON, and else all of it: limit %i, %i',
    async (limit, kept) => {
      const record = `{"id":"b","updatedAt":"never","name":"${'x'.repeat(100_001 - 40)}"}`
      const one = page(of(record))
      const bounds = { limits: { ...defaultLimits, bytes: limit }, seen: new SeenPaths(10) }
      const { trouble, cleanUp } = await read([one], { bounds })
      expect([record.length, trouble[0]?.payload.length]).toEqual([100_001, kept])
      cleanUp()
    },
  )
})

describe('a record that is odd in more places than are looked at', () => {
  const form = '"updatedAt":"never","createdAt":"never"'
  const repeated = '"name":"x","name":"x","state":"full","state":"full"'
  const again = (count: number): string => Array(count).fill('"name":"x"').join(',')
  const outcome = async (members: string) => {
    const one = page(of('{"id":"a"}', `{"id":"b",${members}}`))
    const bounds = { limits: { ...defaultLimits, fields: 2 }, seen: new SeenPaths(10) }
    const { pages, trouble, cleanUp } = await read([one], { bounds })
    const text = textOf(pages[0] as PageFile)
    cleanUp()
    return { text, faults: trouble.flatMap(({ faults }) => faults.map(({ reason }) => reason)) }
  }

  test.each([
    ['values in another form', `${form},"version":"x"`, 'more than 2 values in another form'],
    ['repeated keys', `${repeated},"id":"b"`, 'more than 2 repeated keys'],
    [
      'objects with a repeated key',
      `"marks":[{"mark":"m","mark":"m"},{"mark":"m","mark":"m"},{"mark":"m","mark":"m"}]`,
      'more than 2 repeated keys',
    ],
  ])('gives way to its id: %s', async (...[, members, reason]) => {
    const text = of('{"id":"a"}', '{"id":"b"}')
    expect(await outcome(members)).toEqual({ text, faults: [reason] })
  })

  test.each([
    ['values in another form', form, '"updatedAt":null,"createdAt":null', 2],
    ['repeated keys', repeated, '"name":"x","state":"full"', 0],
    ['one key twice', again(2), '"name":"x"', 0],
    ['one key three times', again(3), '"name":"x"', 0],
    ['one key a hundred times', again(100), '"name":"x"', 0],
  ])('is read with as many as are looked at: %s', async (...[, members, left, faults]) => {
    const found = await outcome(members)
    expect(found.text).toBe(of('{"id":"a"}', `{"id":"b",${left}}`))
    expect(found.faults).toHaveLength(faults)
  })
})

test.each(['nan', 'NaN'])('%s is not null, and is no value that is stored', async word => {
  const outcome = read([page(of('{"id":"a"}', `{"id":"b","name":${word}}`))])
  const faults = await outcome.then(({ trouble, cleanUp }) => {
    cleanUp()
    return trouble.flatMap(one => one.faults)
  })
  expect(faults).toEqual([{ path: 'name', text: word, reason: 'not a text' }])
})

test('a stand-in that lacks what its record cannot be without is reported once', async () => {
  const one = page(of('{"reqRef":"a"}', '{"reqRef":"b"}'))
  const leftOut = new Map([[one.file, new Map([[2, 'too odd']])]])
  const { trouble, cleanUp } = await read([one], {
    leftOut,
    known: knownFields(resourceOf('metric-rows').table),
  })
  expect(trouble.map(({ faults }) => faults)).toEqual([[{ path: '', text: null, reason: 'too odd' }]])
  cleanUp()
})

test('pages that are no JSON are found among others; a failure to read one is what it is', () => {
  const [good, bad] = [page('{}'), page('{')]
  expect(unreadableAmong([good, bad, good])).toEqual([bad])
  expect(() => unreadableAmong([{ ...good, file: join(folder, 'none') }])).toThrow(
    expect.objectContaining({ code: 'ENOENT' }),
  )
})

describe('files of a batch', () => {
  test('lie beside the folder of its first page, and pages of one name each have a place of their own', () => {
    const one = page('{}', { within: undefined })
    const files = new BatchFiles([one, page('{}')])
    expect(besides(one)).toEqual(['scan'])
    const copies = [files.copy(one, Buffer.from('{"a":1}')), files.copy(one, Buffer.from('{}'))]
    expect(copies.map(textOf)).toEqual(['{"a":1}', '{}'])
    expect(copies[0]).toMatchObject({ bytes: 7, within: undefined, runId: 'run-1' })
    expect(copies[0]?.file).toContain(join(dirname(dirname(one.file)), '.muster-'))
    expect(dirname(files.named('x'))).toBe(dirname(dirname(copies[1]?.file ?? '')))
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
    expect(copies.map(({ file }) => [modeOf(dirname(file)), modeOf(file)])).toEqual([
      ['700', '600'],
      ['700', '600'],
    ])
    files.remove()
    expect(besides(one)).toEqual(['scan'])
    expect(existsSync(dirname(files.named('y')))).toBe(true)
    files.remove()
  })

  test('are not written for a batch that needs no repair', () => {
    expect(() => new BatchFiles([]).remove()).not.toThrow()
  })
})
