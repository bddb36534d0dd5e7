/** Bad input: one line that names file, row and field, no value of it, and nothing sent. */
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { largestFile } from '../../src/lib/file-kind.ts'
import { type Body, openSandbox } from '../sandbox/open-sandbox.ts'
import { dataUrl, document, PDF, PNG, pdf, person } from '../sandbox/writes/worker-inputs.ts'
import { csvOf, writingWorld } from './written-files.ts'

const sandbox = await openSandbox({ scale: 0.01 })
const { file, run, cwd } = writingWorld(sandbox.url)

/** Exit 2, nothing on the wire, and these lines on stderr. */
async function refused(name: string, operation = 'create'): Promise<string> {
  const before = sandbox.requests.length
  const { code, err, out } = await run(`workers ${operation} ${name}`)
  expect([code, sandbox.requests.length], err).toEqual([2, before])
  expect(`${err}${out}`).not.toMatch(/planted/i)
  return err
}

/** With quotes around texts that have a comma. */
const quoted = (worker: Body): Body =>
  Object.fromEntries(
    Object.entries(worker).map(([name, value]) => [
      name,
      typeof value === 'string' && value.includes(',') ? `"${value}"` : value,
    ]),
  )

const without = (field: string): Body => {
  const { [field]: _, ...rest } = person()
  return rest
}
const filed = (changes: Body) =>
  person({ attachments: [document('Site first aid', { files: [{ ...pdf, ...changes }] })] })

test.each([
  [without('firstName'), 'firstName is missing'],
  [without('consent'), 'consent is missing'],
  [without('address'), 'address is missing'],
  [person({ lastName: ' ' }), 'lastName is empty'],
  [person({ dob: '03/02/1990' }), 'dob is not a date of the form YYYY-MM-DD'],
  [person({ dob: '1990-02-30' }), 'dob is not a date of the form YYYY-MM-DD'],
  [person({ email: 'planted@' }), 'email is not an e-mail address'],
  [person({ phone: 7700900 }), 'phone is not a text'],
  [person({ countryCode: '44' }), 'countryCode is not a country code with its leading +, such as +44'],
  [person({ address: {} }), 'address is empty'],
  [person({ trades: [] }), 'trades is empty: one or more master trade ids are needed'],
  [person({ trades: ['a', 7] }), 'trades[1] is not a text'],
  [person({ consent: false }), 'consent is not true: written consent is required'],
  [person({ firstname: 'Planted' }), 'firstname is not a field, did you mean firstName?'],
  [person({ nationalIns: 'PLANTED1' }), 'nationalIns is not a UK National Insurance number'],
  [person({ nationalIns: undefined }), 'nationalIns is missing, and this nationality needs it'],
  [
    person({ nationality: 'Ireland', nationalIns: '1234567A' }),
    'nationalIns is neither a National Insurance nor a PPS number',
  ],
  [
    person({ nationality: 'Irish', nationalIns: undefined }),
    'nationalIns is missing; a PPS number is accepted too',
  ],
  [
    person({ nationality: 'Poland', nationalIns: undefined }),
    'passportNo is missing, and so is nationalIns: one is needed',
  ],
  [person({ passportNo: 'planted-12345678' }), 'passportNo is neither a passport number nor a share code'],
  [person({ attachments: {} }), 'attachments is not an array'],
  [person({ rightToWork: [{ files: [pdf] }] }), 'rightToWork[0].documentId is missing'],
  [
    person({ rightToWork: [document('Passport', { expiration: 'soon' })] }),
    'rightToWork[0].expiration is not a date of the form YYYY-MM-DD',
  ],
  [
    filed({ fileName: 'planted' }),
    'attachments[0].files[0].fileName is not a file name of 1 to 255 characters with an extension',
  ],
  [filed({ content: undefined }), 'attachments[0].files[0].content is missing: give content or uploadToken'],
  [
    filed({ content: 'planted' }),
    'attachments[0].files[0].content is not a data URL such as data:application/pdf;base64,...',
  ],
  [
    filed({ content: dataUrl(PNG) }),
    'attachments[0].files[0].content does not begin as application/pdf does',
  ],
  [filed({ content: undefined, path: 'none.pdf' }), 'attachments[0].files[0].path is not there'],
  [filed({ content: undefined, path: 7 }), 'attachments[0].files[0].path is not a file name'],
  ['planted', ' is not an object'],
])('%#', async (worker, problem) => {
  file('w.json', [person(), worker])
  expect(await refused('w.json')).toBe(
    problem.startsWith(' ') ? `w.json, row 2${problem}\n` : `w.json, row 2, ${problem}\n`,
  )
})

test.each([
  [{ active: true }, 'id is missing: the id of the worker to update'],
  [{ id: 'not an id', active: true }, 'id is not an id'],
  [{ id: 'w1' }, ' has no field to change'],
  [{ id: 'w1', active: 'planted' }, 'active is not true or false'],
  [{ id: 'w1', active: true, consent: true }, 'consent is not a field'],
  [{ id: 'w1', nationalIns: 'PLANTED' }, 'nationalIns is not a National Insurance or PPS number'],
  [
    { id: 'w1', attachments: [{ documentNumber: '1' }] },
    'attachments[0].documentId is missing; name an existing document by id instead',
  ],
  [{ id: 'w1', attachments: [{ id: 'd1', files: [] }] }, 'attachments[0].files is empty'],
])('of an update: %#', async (change, problem) => {
  file('u.json', [change])
  const err = await refused('u.json', 'update')
  const shown = problem.startsWith(' ') ? `u.json, row 1${problem}\n` : `u.json, row 1, ${problem}\n`
  expect(err).toBe(shown)
})

test('every faulty row and field is reported together', async () => {
  file('w.json', [person({ email: 'x', dob: 'y' }), person(), person({ consent: 'planted' })])
  expect((await refused('w.json')).split('\n')).toEqual([
    'w.json, row 1, dob is not a date of the form YYYY-MM-DD',
    'w.json, row 1, email is not an e-mail address',
    'w.json, row 3, consent is not true: written consent is required',
    '',
  ])
  const { out } = await run('workers create w.json --json')
  expect(JSON.parse(out)).toMatchObject({ results: [], invalid: [{ row: 1 }, { row: 1 }, { row: 3 }] })
})

test('an agency id is in one row only', async () => {
  file('w.json', [person({ agencyId: 'A' }), person({ agencyId: 'A' })])
  expect(await refused('w.json')).toBe('w.json, row 2, agencyId is that of row 1 too\n')
})

describe('CSV', () => {
  test.each([
    ['a,b\n', 'row 1, a is not a field'],
    ['firstName,firstName\nx,y', 'row 1, firstName is a duplicate heading'],
    ['firstName,,lastName\nx,y,z', 'row 1 has no heading in column 2'],
    ['attachments\nx', 'row 1, attachments is not allowed in CSV: give documents in JSON'],
    [
      'rightToWork.documentId\nx',
      'row 1, rightToWork.documentId is not allowed in CSV: give documents in JSON',
    ],
    ['adress.city\nx', 'row 1, adress.city is not a field, did you mean address.city?'],
  ])('with heading %j', async (text, line) => {
    file('w.csv', text)
    expect((await refused('w.csv')).split('\n')[0]).toBe(`w.csv, ${line}`)
  })

  test('with a row of another length, counted as a spreadsheet does', async () => {
    const good = csvOf([person(), person()])
    file('w.csv', `${good}\n\nPlanted,short\n`)
    expect(await refused('w.csv')).toBe('w.csv, row 5 has 2 cells below 16 headings\n')
  })

  test('with a broken quote does not repeat the cell', async () => {
    file('w.csv', 'firstName,lastName\nAnn,Can"ary\n')
    expect(await refused('w.csv')).toMatch(/^muster: w\.csv is not CSV at line 2: check quotes/)
  })
})

describe('what a spreadsheet made of a value is refused, a line for each', () => {
  test.each([
    [{ phone: '7.7009E+09' }, 'phone is a number such as 4.4E+10, as a spreadsheet shortens long ones'],
    [{ agencyId: '1-Mar' }, 'agencyId is a date such as 1-Mar, which a spreadsheet makes of a text'],
    [{ passportNo: '1,2E+08' }, 'passportNo is a number such as 4.4E+10'],
    [{ dob: '32934' }, 'dob is the number by which a spreadsheet counts days: write it as YYYY-MM-DD'],
    [{ lastName: '#REF!' }, 'lastName is an error of a spreadsheet, such as #REF!'],
    [{ firstName: '#####' }, 'firstName is ####, which a spreadsheet shows for a column that is too narrow'],
    [{ trades: ['TRUE'] }, 'trades[0] is TRUE or FALSE, which a spreadsheet makes of a text'],
    [{ address: { lineOne: '=B2' } }, 'address.lineOne is a formula: save its value instead'],
  ])('%j', async (change, problem) => {
    for (const [name, content] of [
      ['s.json', [person(), person(change)]],
      ['s.csv', csvOf([person(), person(change)].map(one => quoted(one)))],
    ] as const) {
      file(name, content)
      const row = name === 's.json' ? 2 : 3
      const lines = (await refused(name)).trimEnd().split('\n')
      expect(lines).toEqual([expect.stringContaining(`${name}, row ${row}, ${problem}`)])
    }
  })
})

describe('a file', () => {
  test.each([
    ['w.doc', 'x', 'w.doc has no known file ending: name it .json, .ndjson, .jsonl, .csv, .tsv, .txt'],
    ['w.xlsx', 'PK', 'w.xlsx is a workbook: save its sheet as CSV (UTF-8) and name that'],
    [
      'utf16.csv',
      Buffer.from('firstName\n', 'utf16le'),
      'utf16.csv is not UTF-8; it looks like UTF-16 without a BOM: name a file of workers in UTF-8',
    ],
    [
      'odd.csv',
      Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x41, 0x00]),
      'odd.csv is not valid UTF-16, although it begins with a UTF-16 BOM: name a file of workers in UTF-8',
    ],
    ['broken.json', '{"firstName": "Planted', 'broken.json is not JSON: one object, or an array of them'],
    ['empty.json', '[]', 'empty.json has no rows: put one worker a row into it'],
    ['empty.csv', '', 'empty.csv has no rows: put one worker a row into it'],
    [
      'latin.csv',
      Buffer.from('firstName\nRen\xe9e', 'latin1'),
      'latin.csv is not UTF-8: name a file of workers in UTF-8',
    ],
  ])('%s', async (name, content, line) => {
    file(name, content)
    expect(await refused(name)).toBe(`muster: ${line}\n`)
  })

  test('that is not there', async () => {
    expect(await refused('none.json')).toBe(
      'muster: none.json is not there: name a file of workers in UTF-8\n',
    )
  })

  test('with a broken line', async () => {
    file('w.ndjson', `${JSON.stringify(person())}\n\n{"firstName": "Planted\n`)
    expect(await refused('w.ndjson')).toBe('w.ndjson, row 3 is not JSON\n')
  })
})

describe('a file beside the input', () => {
  const path = (name: string) =>
    person({ attachments: [document('Site first aid', { files: [{ path: name }] })] })

  test.each([
    ['empty.pdf', Buffer.alloc(0), 'is an empty file'],
    [
      'fake.pdf',
      Buffer.from('PK\x03\x04'),
      'is not one of application/pdf, image/jpeg, image/png, judging by its first bytes',
    ],
  ])('%s', async (name, content, problem) => {
    file(name, content)
    file('w.json', [path(name)])
    expect(await refused('w.json')).toBe(`w.json, row 1, attachments[0].files[0].path ${problem}\n`)
  })

  test('of more than 20 MB', async () => {
    writeFileSync(join(cwd, 'big.pdf'), PDF)
    truncateSync(join(cwd, 'big.pdf'), largestFile + 1)
    file('w.json', [path('big.pdf')])
    expect(await refused('w.json')).toContain(
      'attachments[0].files[0].path has more than 20 MB (20971520 bytes)',
    )
  })

  test('that makes the body larger than 50 MB with the others', async () => {
    writeFileSync(join(cwd, 'large.pdf'), PDF)
    truncateSync(join(cwd, 'large.pdf'), 13_200_000)
    const files = Array.from({ length: 3 }, () => ({ path: 'large.pdf' }))
    file('w.json', [person({ attachments: [document('Site first aid', { files })] })])
    expect(await refused('w.json')).toMatch(
      /^w\.json, row 1, attachments makes the request larger than 50 MB/,
    )
  })
})
