/** CSV as spreadsheets of other languages and systems write it: the same workers and ids in each form. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formOf } from '../../src/app/csv-rows.ts'
import { openIdList } from '../../src/app/id-list.ts'
import { csvOf, writingWorld } from '../cli/written-files.ts'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { person } from '../sandbox/writes/worker-inputs.ts'
import { temporaryFolder } from '../support/captured-world.ts'

test.each([
  ['a,b', ',', 0],
  ['a;b', ';', 0],
  ['a\tb', '\t', 0],
  ['a', ',', 0],
  ['', ',', 0],
  ['a;b,c;d', ';', 0],
  ['a;b,c', ',', 0],
  ['"a;b;c",d', ',', 0],
  ['"a;""b;c",d', ',', 0],
  ['a\rb;c;d', ',', 0],
  ['\n\na;b', ';', 0],
  ['sep=;\r\na,b', ';', 7],
  ['"sep=\t"\na', '\t', 8],
])('%j is separated by %j from byte %i', (text, separator, head) =>
  expect(formOf(Buffer.from(text))).toEqual({ separator, head }),
)

const utf16be = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()

const forms: Readonly<Record<string, (comma: string) => string | Buffer>> = {
  semicolons: comma => comma.replaceAll(',', ';'),
  tabs: comma => comma.replaceAll(',', '\t'),
  'a line that names the separator': comma => `sep=;\r\n${comma.replaceAll(',', ';')}`,
  'a BOM': comma => `\uFEFF${comma}`,
  'ends of lines as on Windows': comma => comma.replaceAll('\n', '\r\n'),
  'UTF-16 with tabs': comma => Buffer.from(`\uFEFF${comma.replaceAll(',', '\t')}`, 'utf16le'),
  'UTF-16 in the other order': comma => utf16be(comma.replaceAll(',', ';')),
}

const sandbox = await openSandbox({ scale: 0.01 })
const { file, run } = writingWorld(sandbox.url)
const workers = [1, 2].map(number =>
  person({ agencyId: `A${number}`, lastName: 'Ní Bhriain', trades: ['65f0c2a1b3d4e5f607182901'] }),
)

test.each(Object.entries(forms))(
  'workers in a file with %s are checked like those with commas',
  async (_, form) => {
    file('w.csv', form(csvOf(workers)))
    const { code, out, err } = await run('workers create w.csv --dry-run')
    expect([code, err]).toEqual([0, ''])
    file('plain.csv', csvOf(workers))
    expect(out).toBe((await run('workers create plain.csv --dry-run')).out.replaceAll('plain.csv', 'w.csv'))
  },
)

async function idsIn(content: string | Buffer, resource?: string) {
  const path = join(temporaryFolder(), 'ids.csv')
  writeFileSync(path, content)
  const found: unknown[] = []
  const list = openIdList(path, { shown: 'ids.csv', resource })
  for await (const one of list.read(new AbortController().signal)) found.push(one)
  return found
}

test.each(Object.entries(forms))(
  'ids in a file with %s are those of the file with commas',
  async (_, form) => {
    const list = 'resource,id\nrequisitions,abc\nrequisitions,def\n'
    expect(await idsIn(form(list))).toEqual(await idsIn(list))
    expect(await idsIn(form(list))).toHaveLength(2)
  },
)

test('ids that a spreadsheet has spoilt are refused with the line and the reason', async () => {
  const found = await idsIn('id;name\nabc;x\n1-Mar;x\n6.5E+23;x\nTRUE;x\n', 'requisitions')
  expect(found).toEqual([
    { resource: 'requisitions', id: 'abc' },
    { refusedLine: 3, why: expect.stringContaining('is a date such as 1-Mar') },
    { refusedLine: 4, why: expect.stringContaining('is a number such as 4.4E+10') },
    { refusedLine: 5, why: expect.stringContaining('is TRUE or FALSE') },
  ])
})
