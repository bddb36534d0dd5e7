/** POST and PATCH /workers: who may, every rule of a field, identity, matches and conflicts. */
import { describe, expect, it } from 'vitest'
import { seedOf } from '../../../src/sandbox/data/draw.ts'
import { makeAgencies } from '../../../src/sandbox/data/master/companies.ts'
import { defaultKeys, sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import { type ApiKey, readScopes } from '../../../src/sandbox/keys/keys.ts'
import { shortId } from '../../../src/sandbox/record.ts'
import { masterTrades } from '../../../src/sandbox/writes/lists.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'
import { document, pdf, person, writer } from './worker-inputs.ts'

const size = { seed: 1, scale: 0.04, today: '2026-11-02' }
const [first, second, third] = makeAgencies(seedOf(size)).map(({ id }) => id) as [string, string, string]
const [companyKey, agencyKey] = defaultKeys as readonly [ApiKey, ApiKey]
const sandbox = await openSandbox({
  provokesViolations: true,
  ...size,
  keys: [
    companyKey,
    agencyKey,
    { ...companyKey, key: 'writing-company', scopes: [...readScopes, 'write:workers'] },
    { ...agencyKey, key: 'reading-agency', scopes: readScopes },
    { ...agencyKey, key: 'two-agencies', agencies: [first, second] },
    { ...agencyKey, key: 'second-agency', agencies: [second] },
  ],
})
const write = writer(sandbox.url)
const create = (body: unknown, query = '', key = sandboxKeys.agency) =>
  write(`POST /workers${query}`, body, key)
const update = (id: string, body: unknown, key = sandboxKeys.agency) =>
  write(`PATCH /workers/${id}`, body, key)
const created = async (changes: Body = {}): Promise<Body> => {
  const { status, body } = await create(person(changes))
  expect([status, body.error]).toEqual([200, undefined])
  return body.data
}
const refusal = async (answer: Promise<{ status: number; body: Body }>): Promise<string> => {
  const { status, body } = await answer
  expect(body.success).toBe(false)
  return `${status} ${body.error.code} ${body.error.message}`
}

describe('a key that writes', () => {
  it('must be an agency key with write:workers', async () => {
    for (const key of [sandboxKeys.company, 'writing-company', 'reading-agency']) {
      expect((await create(person(), '', key)).status, key).toBe(403)
      expect((await update('x', {}, key)).status, key).toBe(403)
    }
    expect((await create(person(), '', 'nobody')).status).toBe(401)
  })

  it('must name the agency when the key has several', async () => {
    expect(await refusal(create(person(), '', 'two-agencies'))).toMatch(
      /^400 BAD_REQUEST agency: is required/,
    )
    expect((await create(person(), `?agency=${third}`, 'two-agencies')).status).toBe(403)
    expect((await create(person(), '?agency=not%20an%20id', 'two-agencies')).status).toBe(400)
    expect((await create(person(), '?agencies=x', 'two-agencies')).status).toBe(400)
    const { status, body } = await create(person(), `?agency=${second}`, 'two-agencies')
    expect(status).toBe(200)
    const own = await update(body.data.id, { active: false }, 'second-agency')
    expect([own.status, own.body.data.id]).toEqual([200, body.data.id])
    expect((await update(body.data.id, { active: false })).status).toBe(404)
  })

  it('uses POST and PATCH only', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      expect((await sandbox.send(method, '/workers')).status, method).toBe(405)
    }
    expect((await sandbox.send('POST', '/workers/x')).headers.get('allow')).toBe('PATCH')
  })
})

it('returns the created record', async () => {
  const rightToWork = [document('Passport', { documentNumber: '123456789', files: [pdf] })]
  const worker = await created({ attachments: [document('CV')], rightToWork })
  expect(worker).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    reference: expect.stringMatching(/^WRK-\d{6}$/),
    createdAt: expect.stringMatching(/Z$/),
    attachments: [
      {
        id: expect.any(String),
        type: 'attachment',
        documentType: 'CV',
        indefinite: true,
        createdAt: worker.createdAt,
        files: [{ fileName: 'scan.pdf', url: expect.stringMatching(/^http/) }],
      },
    ],
    rightToWork: [expect.objectContaining({ type: 'rightToWork', expiration: '2030-05-31T00:00:00.000Z' })],
  })
  const file = await fetch(worker.attachments[0].files[0].url)
  expect([file.headers.get('content-type'), await file.text()]).toEqual([
    'application/pdf',
    '%PDF-1.4\n%%EOF\n',
  ])
})

describe('a field of a new worker', () => {
  const required = [
    'firstName lastName dob email phone countryCode gender nationality address trades agencyId consent',
  ]
  it.each(required.join(' ').split(' '))('%s is required', async field => {
    const { [field]: _, ...rest } = person()
    expect(await refusal(create(rest))).toMatch(new RegExp(`^400 BAD_REQUEST ${field}: is `))
  })

  it.each([
    ['firstName', ' ', 'is empty'],
    ['lastName', 7, 'is not a text'],
    ['dob', '1990-02-30', 'is not a date'],
    ['dob', '2999-01-01', 'lies in the future'],
    ['email', 'somebody', 'is not an e-mail address'],
    ['phone', 'call me', 'is not a telephone number'],
    ['countryCode', '44', 'is not in the list of telephone country codes; valid are +93'],
    ['gender', 'female', 'is not in the list of genders; valid are Male, Female, Non-binary and 1 more'],
    ['nationality', 'British', 'is not in the list of countries; valid are Afghanistan'],
    ['address', {}, 'is empty'],
    ['address', 'Leeds', 'is not an object'],
    ['trades', [], 'is empty'],
    ['consent', false, 'is not true'],
    ['consent', 'true', 'is not true'],
    ['nickname', 'x', 'is not a field of this body'],
    ['active', true, 'is not a field of this body'],
    ['attachments', {}, 'is not an array'],
  ])('%s as %j', async (field, value, reason) => {
    const message = await refusal(create(person({ [field]: value })))
    expect(message.startsWith(`400 BAD_REQUEST ${field}: ${reason}`), message).toBe(true)
  })

  it('trades takes only ids of master trades, and the refusal names some', async () => {
    const message = await refusal(create(person({ trades: [masterTrades[1]?.id, 'bricklayer'] })))
    expect(message).toContain(`trades[1]: is not the id of a master trade; valid are ${masterTrades[0]?.id}`)
  })

  it('is reported together with the others, and no refusal repeats a value', async () => {
    const message = await refusal(create(person({ email: 'jane.roe', phone: 'secret' })))
    expect(message).toMatch(/email: .*; phone: /)
    expect(message).not.toMatch(/jane|secret/)
  })

  it.each(['', '{"firstName":', '[]', 'null', '"text"'])('needs a body that is an object: %j', async body => {
    expect(await refusal(create(body))).toMatch(/^400 /)
  })

  it('needs the content type application/json', async () => {
    const headers = { authorization: `Bearer ${sandboxKeys.agency}`, 'content-type': 'application/xml' }
    const answer = await fetch(`${sandbox.url}/workers`, { method: 'POST', headers, body: '<worker/>' })
    expect(answer.status).toBe(400)
  })
})

describe('identity by nationality', () => {
  const pps = '1234567T'
  it.each([
    ['United Kingdom', { nationalIns: undefined, passportNo: '123456789' }, 'nationalIns'],
    ['United Kingdom', { nationalIns: 'AB123' }, 'nationalIns'],
    ['United Kingdom', { nationalIns: pps }, 'nationalIns'],
    ['Ireland', { nationalIns: undefined, passportNo: '123456789' }, 'nationalIns'],
    ['Ireland', { nationalIns: '1234567A' }, 'nationalIns'],
    ['Poland', { nationalIns: undefined }, 'passportNo'],
    ['Poland', { nationalIns: pps }, 'nationalIns'],
    ['Poland', { nationalIns: undefined, passportNo: '12' }, 'passportNo'],
  ])('%s refuses %j', async (nationality, numbers, field) => {
    const message = await refusal(create(person({ nationality, ...numbers })))
    expect(message).toMatch(new RegExp(`^400 BAD_REQUEST ${field}: is `))
  })

  it.each([
    ['Ireland', { nationalIns: pps }],
    ['Ireland', {}],
    ['Poland', {}],
    ['Poland', { nationalIns: undefined, passportNo: 'W12 345 67X' }],
  ])('%s takes %j', async (nationality, numbers) => {
    await created({ nationality, ...numbers })
  })
})

describe('a match', () => {
  it.each([
    ['National Insurance number', (known: Body) => ({ nationalIns: known.nationalIns.toLowerCase() })],
    ['passport number', () => ({ passportNo: 'P7654321' })],
    ['name and date of birth', ({ firstName, lastName, dob }: Body) => ({ firstName, lastName, dob })],
    [
      'e-mail and telephone',
      ({ email, phone }: Body) => ({ email: email.toUpperCase(), phone: `0${phone}` }),
    ],
  ])('by %s goes to review', async (name, same) => {
    const known = person({ passportNo: name.startsWith('pass') ? 'p7654321' : undefined })
    expect((await create(known)).status).toBe(200)
    const { status, body } = await create(person(same(known)), '', 'second-agency')
    expect([status, body.error.code]).toEqual([409, 'WORKER_MATCH_REQUIRES_REVIEW'])
    expect(JSON.stringify(body)).not.toMatch(new RegExp(`${known.firstName}|${known.agencyId}|[0-9a-f]{24}`))
  })

  it('needs more than a name, a date or a telephone number', async () => {
    const known = person()
    await create(known)
    await created({ firstName: known.firstName, lastName: known.lastName, phone: known.phone })
    await created({ dob: known.dob, phone: known.phone })
  })

  it('is also looked for among the workers of timesheets', async () => {
    const [worker] = sandbox.workers.all()
    const { firstName, lastName, dob } = worker!.person
    expect((await create(person({ firstName, lastName, dob }))).body.error.code).toBe(
      'WORKER_MATCH_REQUIRES_REVIEW',
    )
  })

  it('is a conflict instead when only the e-mail or agency id is taken', async () => {
    const known = person()
    await create(known)
    for (const field of ['email', 'agencyId']) {
      expect(await refusal(create(person({ [field]: known[field] })))).toBe(
        `409 CONFLICT ${field}: belongs to another worker`,
      )
    }
    expect((await create(person({ agencyId: known.agencyId }), '', 'second-agency')).status).toBe(200)
  })
})

describe('an update', () => {
  it('changes what was sent, and finds the worker by either id', async () => {
    const worker = await created()
    const { status, body } = await update(shortId(worker.id), { lastName: 'Newname', active: false })
    expect(status).toBe(200)
    expect(body.data).toMatchObject({ id: worker.id, reference: worker.reference, attachments: [] })
    expect(body.data.updatedAt >= worker.createdAt && body.data.createdAt === undefined).toBe(true)
    const kept = sandbox.workers.find(worker.id, first)
    expect(kept?.person.lastName).toBe('Newname')
    expect(kept?.agencies.get(first)).toMatchObject({ active: false })
  })

  it('finds a worker whose timesheets belong to the agency', async () => {
    const { body } = await sandbox.get('/timesheets?limit=1', sandboxKeys.agency)
    const { worker } = body.data[0]
    const { status, body: answer } = await update(worker.id, { phone: '7700 900123' })
    expect(status).toBe(200)
    const found = await sandbox.get(`/timesheets?query=${answer.data.reference}`, sandboxKeys.agency)
    expect(found.body.data.every((row: Body) => row.worker.id === worker.id)).toBe(true)
    expect(found.body.meta.total).toBeGreaterThan(0)
  })

  it('needs at least one supported field', async () => {
    const { id } = await created()
    expect(await refusal(update(id, {}))).toMatch(/^400 .*at least one/)
    expect(await refusal(update(id, { consent: true }))).toMatch(/consent: is not a field/)
    expect(await refusal(update(id, { phone: '' }))).toMatch(/phone: is empty/)
    expect(await refusal(update(id, { trades: [] }))).toMatch(/trades: is empty/)
  })

  it('answers 404 for a worker of another agency and 400 to text that is not an id', async () => {
    expect((await update('ffffffffffffffffffffffff', { active: true })).status).toBe(404)
    expect((await update('not%20an%20id', { active: true })).status).toBe(400)
  })

  it.each(['nationalIns', 'passportNo', 'email', 'agencyId'])(
    'of %s to a value that is taken',
    async field => {
      const known = person({ passportNo: 'Q1234567' })
      if (field === 'passportNo') await create(known)
      else await create({ ...known, passportNo: undefined })
      const { id } = await created()
      expect(await refusal(update(id, { [field]: known[field] }))).toBe(
        `409 CONFLICT ${field}: belongs to another worker`,
      )
    },
  )

  it('applies the identity rules to the resulting record', async () => {
    const { id } = await created({ nationality: 'Poland', nationalIns: undefined, passportNo: 'Z1234567' })
    expect(await refusal(update(id, { nationality: 'United Kingdom' }))).toMatch(/^400 .*nationalIns: is req/)
    expect(await refusal(update(id, { nationality: 'Ireland' }))).toMatch(/^400 .*nationalIns: is required/)
    expect((await update(id, { nationality: 'Ireland', nationalIns: '7654321B' })).status).toBe(400)
    expect((await update(id, { nationality: 'Ireland', nationalIns: '1234567TW' })).status).toBe(200)
    expect(await refusal(update(id, { nationality: 'Poland' }))).toMatch(/nationalIns: is not a UK/)
  })
})
