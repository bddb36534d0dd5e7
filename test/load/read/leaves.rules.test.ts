/** The leaves that have no column: what is kept of them, and where. */
import { expect, test } from 'vitest'
import { rulesStage } from '../rules-stage.ts'
import { boxes, vessels } from './vessels.ts'

const stage = rulesStage()

const leaves = async (): Promise<Readonly<Record<string, readonly unknown[]>>> =>
  Object.fromEntries(
    (await stage.rows('select * from stage_leaf')).map(
      ({ path, value_text: text, value_type: type, is_personal: isPersonal }) => [
        path,
        [text, type, isPersonal ? 'pii' : 'star'],
      ],
    ),
  )

test('a document has a row per leaf, empty lists and objects among them, and none for null', async () => {
  const spec = {
    ...{ word: 'x', size: 1.5, isBig: true, gone: null, list: [1, { deep: 'y' }], none: [], nothing: {} },
    ...{
      link: 'https://files/a.jpg?key=secret',
      anchor: 'http://files/a#b',
      question: 'is it so?#1',
      notLink: 'see https://x/?y',
    },
  }
  await stage.stage(vessels, [stage.pageOf([{ id: 'a', spec }])])
  expect(await leaves()).toEqual({
    ...{
      'spec.word': ['x', 'text', 'star'],
      'spec.size': ['1.5', 'number', 'star'],
      'spec.isBig': ['true', 'boolean', 'star'],
    },
    ...{ 'spec.list[0]': ['1', 'number', 'star'], 'spec.list[1].deep': ['y', 'text', 'star'] },
    ...{ 'spec.none': ['[]', 'empty', 'star'], 'spec.nothing': ['{}', 'empty', 'star'] },
    ...{
      'spec.link': ['https://files/a.jpg', 'text', 'star'],
      'spec.anchor': ['http://files/a', 'text', 'star'],
    },
    ...{
      'spec.question': ['is it so?#1', 'text', 'star'],
      'spec.notLink': ['see https://x/?y', 'text', 'star'],
    },
  })
})

test('a document that is a text, a number or empty has no leaf but itself', async () => {
  for (const spec of ['text', 7, {}, []]) {
    await stage.stage(vessels, [stage.pageOf([{ id: 'a', spec }])])
    expect(Object.keys(await leaves())).toEqual([])
  }
})

const deniedKeys = [
  'dob',
  'dateOfBirth',
  'birthDate',
  'gender',
  'nationality',
  'nationalInsurance',
  'nino',
  'passportNo',
  'shareCode',
  'apiKey',
  'clientSecret',
  'token',
  'password',
]
const personalKeys = [
  'name',
  'firstName',
  'Email',
  'phone',
  'mobile',
  'address',
  'line1',
  'lineTwo',
  'postcode',
  'accountNumber',
  'sortCode',
  'iban',
  'utr',
  'vat',
  'contact',
  'comment',
  'message',
  'note',
  'notes',
  'attachment',
  'photoUrl',
]
const openKeys = [
  'named',
  'line4',
  'vats',
  'tokens',
  'dobs',
  'ninos',
  'urls',
  'noted',
  'size',
  'utrs',
  'streamline10',
]

test('leaves named like secrets or legal identity are not stored, those named like people are restricted', async () => {
  const spec = Object.fromEntries([...deniedKeys, ...personalKeys, ...openKeys].map(key => [key, 'x']))
  await stage.stage(vessels, [stage.pageOf([{ id: 'a', spec }])])
  const expected = [
    ...deniedKeys.map(key => [`spec.${key}`, ['[not stored]', 'text', 'pii']]),
    ...personalKeys.map(key => [`spec.${key}`, ['x', 'text', 'pii']]),
    ...openKeys.map(key => [`spec.${key}`, ['x', 'text', 'star']]),
  ]
  expect(await leaves()).toEqual(Object.fromEntries(expected))
})

test('a key that may be data is restricted, and one in quotes is judged like any other', async () => {
  const spec = { 'Ann Smith': 1, é: 1, 'a-b_c$#1': 1, 'my token': 'x', 'my.password': 'x' }
  await stage.stage(vessels, [stage.pageOf([{ id: 'a', spec }])])
  expect(
    Object.values(await leaves())
      .map(([text, , place]) => `${text} ${place}`)
      .sort(),
  ).toEqual([...['1 pii', '1 pii', '1 star', '[not stored] pii', '[not stored] pii']])
})

test('undeclared fields have leaves too, each of its record, and those of one that is kept as a text are restricted', async () => {
  const deep = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`k${n}`, n]))
  const read = await stage.stage(vessels, [
    stage.pageOf([
      { id: 'a', other: { size: 2 } },
      { id: 'b', other: { email: 'x' } },
      { id: 'c', huge: deep },
      { id: 'd', secrets: { ...deep, password: 'x' } },
    ]),
  ])
  expect([...read.filled]).toContain('stage_leaf')
  const found = await leaves()
  expect(found).toMatchObject({ 'other.size': ['2', 'number', 'star'], 'other.email': ['x', 'text', 'pii'] })
  expect(found.huge?.slice(1)).toEqual(['json', 'pii'])
  expect(found.secrets).toEqual(['[not stored]', 'json', 'pii'])
  const owners = await stage.rows(
    `select path, record_key from stage_leaf join stage_record using (locator) where path like 'other%' order by 1`,
  )
  expect(owners).toEqual([
    { path: 'other.email', record_key: 'b' },
    { path: 'other.size', record_key: 'a' },
  ])
})

test('all leaves of a restricted document are restricted, and a leaf that has a column is left out', async () => {
  await stage.stage(boxes, [
    stage.pageOf([{ id: 'a', contents: { label: 'l', size: 2, inner: {} }, other: 1 }]),
  ])
  expect(await leaves()).toEqual({
    'contents.inner': ['{}', 'empty', 'pii'],
    'contents.size': ['2', 'number', 'pii'],
    other: ['1', 'number', 'star'],
  })
})

test('a batch without documents and undeclared fields has no leaves', async () => {
  const { filled } = await stage.stage(vessels, [stage.pageOf([{ id: 'a', name: 'x', spec: null }])])
  expect([...filled]).toEqual(['stage.stage_0'])
  await expect(stage.rows('select 1 from stage_leaf where false')).resolves.toEqual([])
})
