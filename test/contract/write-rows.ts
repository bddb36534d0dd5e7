/** The query parameters and body fields of the writes. */
import { expect } from 'vitest'
import { countries, genders, masterTrades, telephoneCodes } from '../../src/sandbox/writes/lists.ts'
import type { Body } from '../sandbox/open-sandbox.ts'
import { dataUrl, document, PDF, pdf, person } from '../sandbox/writes/worker-inputs.ts'
import { expectRefusal, type Row } from './row.ts'
import { agencies, companies, type KeyName, type Stand } from './stand.ts'
import { bodyOf, declaration, targetOf } from './targets.ts'

const where = '4'
const CREATE = 'POST /workers'
const UPDATE = 'PATCH /workers/{id}'
const UPLOAD = 'POST /files/uploads'

const agencyRows: readonly Row[] = [CREATE, UPDATE, UPLOAD].map(name => ({
  kind: 'parameter',
  what: `${name} agency`,
  where,
  show: async stand => {
    const send = (query: string, key: KeyName = 'several agencies') =>
      stand.send(targetOf(stand, name) + query, { key, body: bodyOf(stand, name) })
    expect((await send(`?agency=${agencies[0]}`)).status).toBe(200)
    expect((await send('', 'agency')).status).toBe(200)
    expectRefusal(await send(''), 400, /^agency: is required/)
    expectRefusal(await send('?agency='), 400, 'agency')
    expectRefusal(await send(`?agency=${agencies[2]}`), name === UPLOAD ? 404 : 403)
  },
}))

export const invoiceUpload = (stand: Stand): Body => {
  const pending = stand.sandbox.world
    .all('invoices')
    .find((one: Body) => one.status === 'pending' && one.company.id === companies[0]) as Body
  return declaration(pending.id, { resource: 'invoice', purpose: 'payment' })
}

const companyRow: Row = {
  kind: 'parameter',
  what: `${UPLOAD} company`,
  where,
  show: async stand => {
    const send = (company: string, key: KeyName) =>
      stand.send(`${UPLOAD}?company=${company}`, { key, body: invoiceUpload(stand) })
    expect((await send(companies[0], 'company')).status).toBe(200)
    expectRefusal(await send(companies[1], 'company'), 404)
    expectRefusal(await send(companies[1], 'one company'), 403)
    expectRefusal(await send('', 'company'), 400, 'company')
  },
}

interface Field {
  readonly good: unknown
  readonly bad: readonly unknown[]
  readonly optional?: true
  /** How it is kept, where not under its own name. */
  readonly kept?: (worker: Body) => unknown
}

const texts = [undefined, '', 7]
const required = (good: unknown, ...bad: unknown[]): Field => ({ good, bad: [...texts, ...bad] })
const documents = (name: string): Field => ({
  good: [document(name)],
  bad: [7, [{}], [document(name, { files: [] })]],
  optional: true,
  kept: worker => worker.documents.map(({ qualification }: Body) => qualification.name).includes(name),
})

const FIELDS: Readonly<Record<string, Field>> = {
  firstName: required('Rosalind'),
  lastName: required('Quince'),
  dob: required('1985-02-28', '1985-02-30', '28/02/1985', '2999-01-01'),
  email: required('rosalind@mail.example.com', 'rosalind'),
  phone: required('7700 900123', 'abc'),
  countryCode: required(telephoneCodes[1], '44', 'GB'),
  gender: required(genders[0], 'x'),
  nationality: required(
    countries.find(name => name === 'Ireland'),
    'IE',
  ),
  nationalIns: { good: 'SX123456C', bad: ['x', '', 7], optional: true },
  passportNo: { good: 'AB1234567', bad: ['!', '', 7], optional: true },
  address: { good: { lineOne: '2 Low Road', city: 'York' }, bad: [undefined, {}, 'York'] },
  trades: { good: [masterTrades[1]?.id], bad: [undefined, [], ['x'], 'x'] },
  agencyId: { ...required('AG-77'), kept: worker => worker.agencies.get(agencies[0]).agencyId },
  attachments: documents('Site first aid'),
  rightToWork: documents('Passport'),
}

async function created(stand: Stand, changes: Body = {}): Promise<string> {
  const { status, body } = await stand.send(CREATE, { key: 'agency', body: person(changes) })
  expect([status, body.error]).toEqual([200, undefined])
  return body.data.id
}

const keptAs = (worker: Body, name: string, { kept }: Field) => {
  return kept ? kept(worker) : worker.person[name]
}

const stored = ({ sandbox }: Stand, id: string) => sandbox.workers.find(id, agencies[0]) as Body

const expectation = ({ good, kept }: Field, name: string) => (kept && name !== 'agencyId' ? true : good)

function unique(name: string, value: unknown, suffix: string): unknown {
  const changed: Record<string, unknown> = {
    email: `${suffix}.${value}`,
    agencyId: `${value}-${suffix}`,
    nationalIns: `SX12345${suffix.length}C`,
    passportNo: `AB123456${suffix.length}`,
  }
  return changed[name] ?? value
}

function fieldRows(name: string, field: Field): Row[] {
  const create: Row['show'] = async stand => {
    const good = unique(name, field.good, 'new')
    const id = await created(stand, { [name]: good })
    expect(keptAs(stored(stand, id), name, field)).toEqual(expectation({ ...field, good }, name))
    for (const bad of field.bad) {
      const answer = await stand.send(CREATE, { key: 'agency', body: person({ [name]: bad }) })
      expectRefusal(answer, 400, new RegExp(`(^|; )${name}\\b`))
    }
    if (field.optional && name !== 'nationalIns') await created(stand)
  }
  const update: Row['show'] = async stand => {
    const id = await created(stand)
    const send = (value: unknown) =>
      stand.send(`PATCH /workers/${id}`, { key: 'agency', body: { [name]: value } })
    const good = unique(name, field.good, 'other')
    const { status, body } = await send(good)
    expect([status, body.error]).toEqual([200, undefined])
    expect(keptAs(stored(stand, id), name, field)).toEqual(expectation({ ...field, good }, name))
    for (const bad of field.bad.filter(value => value !== undefined)) {
      expectRefusal(await send(bad), 400, new RegExp(`^${name}\\b`))
    }
  }
  const row = { kind: 'field', where } as const
  return [
    { ...row, what: `${CREATE} ${name}`, show: create },
    { ...row, what: `${UPDATE} ${name}`, show: update },
  ]
}

const consent: Row = {
  kind: 'field',
  what: `${CREATE} consent`,
  where,
  show: async stand => {
    await created(stand, { consent: true })
    for (const bad of [undefined, false, 'true']) {
      expectRefusal(
        await stand.send(CREATE, { key: 'agency', body: person({ consent: bad }) }),
        400,
        /^consent/,
      )
    }
  },
}

const activeField: Row = {
  kind: 'field',
  what: `${UPDATE} active`,
  where,
  show: async stand => {
    const id = await created(stand)
    const send = (active: unknown) => stand.send(`PATCH /workers/${id}`, { key: 'agency', body: { active } })
    for (const active of [false, true]) {
      expect((await send(active)).status).toBe(200)
      expect(stand.sandbox.workers.find(id, agencies[0])?.agencies.get(agencies[0])?.active).toBe(active)
    }
    expectRefusal(await send('no'), 400, /^active/)
  },
}

const INPUTS: Readonly<
  Record<string, { good: Body; bad: readonly Body[]; kept: (document: Body) => unknown }>
> = {
  documentId: { good: {}, bad: [undefined, 'x'], kept: one => one.documentType === 'Site first aid' },
  documentNumber: { good: 'D-1', bad: [7, ''], kept: one => one.documentNumber === 'D-1' },
  expiration: {
    good: '2031-05-06',
    bad: [undefined, '2031-02-30', 7],
    kept: one => one.expiration === '2031-05-06T00:00:00.000Z' && one.indefinite === false,
  },
  files: { good: [pdf, pdf], bad: [undefined, [], 7], kept: one => one.files.length === 2 },
  'files[].fileName': {
    good: 'a.pdf',
    bad: [undefined, 'a', 7],
    kept: one => one.files[0].fileName === 'a.pdf',
  },
  'files[].content': {
    good: dataUrl(PDF),
    bad: [undefined, 'x', dataUrl(PDF, 'application/zip')],
    kept: one => one.files[0].url.startsWith('http'),
  },
  'files[].docType': { good: 'front', bad: [7, ''], kept: one => one.files[0].docType === 'front' },
}

/** A document with one thing about it, or about its file, set. */
function input(name: string, value: unknown): Body {
  if (name === 'documentId' && typeof value === 'object') return document('Site first aid')
  const [, ofFile] = name.split('files[].')
  const changes = ofFile ? { files: [{ ...pdf, [ofFile]: value }] } : { [name]: value }
  return document('Site first aid', changes)
}

const inputRows: readonly Row[] = Object.entries(INPUTS).map(([name, { good, bad, kept }]) => ({
  kind: 'field',
  what: `a document's ${name}`,
  where: '2, 4',
  show: async stand => {
    const send = (value: unknown) =>
      stand.send(CREATE, { key: 'agency', body: person({ attachments: [input(name, value)] }) })
    const { status, body } = await send(good)
    expect([status, body.error]).toEqual([200, undefined])
    expect(kept(body.data.attachments[0])).toBe(true)
    const last = name.split('.').at(-1) ?? ''
    for (const value of bad) expectRefusal(await send(value), 400, `${last}:`)
  },
}))

export const writeRows: readonly Row[] = [
  ...agencyRows,
  companyRow,
  ...Object.entries(FIELDS).flatMap(([name, field]) => fieldRows(name, field)),
  consent,
  activeField,
  ...inputRows,
]
