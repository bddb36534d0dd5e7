/** Documents of a worker: added, changed, replaced, locked, kept to one agency, smart-checked; their files and sizes. */
import { describe, expect, it } from 'vitest'
import { largestBody, largestFile } from '../../../src/lib/file-kind.ts'
import { seedOf } from '../../../src/sandbox/data/draw.ts'
import { makeAgencies } from '../../../src/sandbox/data/master/companies.ts'
import { defaultKeys, sandboxKeys } from '../../../src/sandbox/keys/default-keys.ts'
import type { ApiKey } from '../../../src/sandbox/keys/keys.ts'
import type { WorkerDocument } from '../../../src/sandbox/writes/worker-book.ts'
import { type Body, openSandbox } from '../open-sandbox.ts'
import { dataUrl, document, PDF, PNG, pdf, person, png, writer } from './worker-inputs.ts'

const size = { seed: 1, scale: 0.04, today: '2026-11-02' }
const [first, second] = makeAgencies(seedOf(size)).map(({ id }) => id) as [string, string]
const [companyKey, agencyKey] = defaultKeys as readonly [ApiKey, ApiKey]
const sandbox = await openSandbox({
  provokesViolations: true,
  ...size,
  keys: [companyKey, agencyKey, { ...agencyKey, key: 'second-agency', agencies: [second] }],
})
for (const company of sandbox.world.all('companies')) setCardChecks(company, true)

function setCardChecks(company: Body, cscsVerification: boolean) {
  const candidateRequirements = { ...company.config.candidateRequirements, cscsVerification }
  sandbox.world.upsert('companies', { ...company, config: { ...company.config, candidateRequirements } })
}

const write = writer(sandbox.url)
const create = (changes: Body) => write('POST /workers', person(changes), sandboxKeys.agency)
const update = (id: string, body: Body, key = sandboxKeys.agency) => write(`PATCH /workers/${id}`, body, key)
const created = async (changes: Body = {}): Promise<Body> => {
  const { status, body } = await create(changes)
  expect([status, body.error]).toEqual([200, undefined])
  return body.data
}
const updated = async (id: string, body: Body): Promise<Body> => {
  const answer = await update(id, body)
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  return answer.body.data
}
const refusal = async (answer: Promise<{ status: number; body: Body }>): Promise<string> => {
  const { status, body } = await answer
  return `${status} ${body.error?.message}`
}
const firstAid = (changes: Body = {}) => document('Site first aid', changes)
const card = (documentNumber: string, changes: Body = {}) =>
  document('CSCS Labourer card', { documentNumber, files: [pdf, png], ...changes })

describe('a new document', () => {
  it.each([
    ['attachments', { files: [pdf] }, /documentId: is required; valid are [0-9a-f]{24} \(Passport\)/],
    ['attachments', { documentId: 'x', files: [pdf] }, /documentId: is not the id of a master qualification/],
    ['attachments', document('Passport'), /documentId: Passport belongs to rightToWork/],
    ['rightToWork', document('CV'), /documentId: CV belongs to attachments/],
    ['attachments', document('Driving licence', { files: [pdf] }), /files: Driving licence needs at least 2/],
    [
      'attachments',
      document('Site first aid', { files: undefined }),
      /files: Site first aid needs at least 1/,
    ],
    ['attachments', firstAid({ expiration: undefined }), /expiration: is required for Site first aid/],
    ['attachments', firstAid({ expiration: '31/05/2030' }), /expiration: is not a date/],
    ['attachments', document('CV', { expiration: '2030-05-31' }), /expiration: CV does not expire/],
  ])('in %s that is wrong: %#', async (collection, input, reason) => {
    const message = await refusal(create({ [collection]: [input] }))
    expect(message).toMatch(/^400 /)
    expect(message).toContain(`${collection}[0].`)
    expect(message).toMatch(reason)
  })

  it('may have an expiry or not where its qualification allows both', async () => {
    const { rightToWork } = await created({
      rightToWork: [document('Share code check'), document('Share code check', { expiration: '2027-01-31' })],
    })
    expect(rightToWork.map(({ indefinite }: Body) => indefinite)).toEqual([true, false])
  })
})

describe('a file', () => {
  const cut = dataUrl(PDF).slice(0, -1)
  it.each([
    [{ content: dataUrl(PDF) }, 'fileName: is required'],
    [{ ...pdf, fileName: 'scan' }, 'fileName: is not a file name'],
    [{ ...pdf, fileName: `${'x'.repeat(252)}.pdf` }, 'fileName: is '],
    [{ fileName: 'a.pdf' }, 'content: is required, unless'],
    [{ ...pdf, uploadToken: 'x' }, 'content: is required, unless'],
    [{ fileName: 'a.pdf', uploadToken: 'x' }, 'uploadToken: is not valid for'],
    [{ ...pdf, content: PDF.toString('base64') }, 'content: is not a data URL'],
    [{ ...pdf, content: cut }, 'content: is not base64'],
    [{ ...pdf, content: `${dataUrl(PDF)}!!!!` }, 'content: is not base64'],
    [{ ...pdf, content: 'data:application/pdf;base64,' }, 'content: is not base64'],
    [{ ...pdf, content: dataUrl(PDF, 'application/zip') }, 'content: is declared as none of application/pdf'],
    [{ ...pdf, content: dataUrl(PNG) }, 'content: does not begin as application/pdf does'],
    [{ ...png, content: dataUrl(PNG, 'image/jpeg') }, 'content: does not begin as image/jpeg does'],
  ])('%#', async (file, reason) => {
    const message = await refusal(create({ attachments: [firstAid({ files: [pdf, file] })] }))
    expect(message).toContain(`400 attachments[0].files[1].${reason}`)
  })

  it('has at most 20 MB when decoded', async () => {
    const sized = (bytes: number) => ({ ...pdf, content: dataUrl(Buffer.concat([PDF, Buffer.alloc(bytes)])) })
    const files = (bytes: number) => ({ attachments: [firstAid({ files: [sized(bytes - PDF.length)] })] })
    expect((await create(files(largestFile))).status).toBe(200)
    expect(await refusal(create(files(largestFile + 1)))).toContain('content: has more than 20 MB')
  })

  it('of a body over 50 MB is not read', async () => {
    const body = Buffer.alloc(largestBody + 1, ' ')
    const { status, body: answer } = await write('POST /workers', body, sandboxKeys.agency)
    expect([status, answer.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect((await write('PATCH /workers/x', body, sandboxKeys.agency)).status).toBe(413)
    const full = await write('POST /workers', body.subarray(1), sandboxKeys.agency)
    expect(full.status).toBe(400)
  })
})

describe('documents of an update', () => {
  it('are added without an id, changed with one, and never removed', async () => {
    const worker = await created({ attachments: [document('CV'), firstAid({ documentNumber: 'A1' })] })
    const [cv, aid] = worker.attachments
    const added = await updated(worker.id, { attachments: [document('Traffic Marshal certificate')] })
    expect(added.attachments.map(({ documentType }: Body) => documentType)).toEqual([
      'CV',
      'Site first aid',
      'Traffic Marshal certificate',
    ])
    const changed = await updated(worker.id, { attachments: [{ id: aid.id, expiration: '2031-01-31' }] })
    expect(changed.attachments[0]).toEqual(cv)
    expect(changed.attachments[1]).toEqual({ ...aid, expiration: '2031-01-31T00:00:00.000Z' })
    expect((await updated(worker.id, { attachments: [] })).attachments).toEqual(changed.attachments)
  })

  it('keep their files, or have all of them replaced', async () => {
    const worker = await created({ attachments: [firstAid({ files: [pdf, png] })] })
    const [{ id }] = worker.attachments
    const kept = await updated(worker.id, { attachments: [{ id, documentNumber: 'B2' }] })
    expect(kept.attachments[0].files).toEqual(worker.attachments[0].files)
    const replaced = await updated(worker.id, { attachments: [{ id, files: [png] }] })
    expect(replaced.attachments[0].files).toEqual([
      { fileName: 'scan.png', docType: 'front', url: expect.any(String) },
    ])
    expect(await refusal(update(worker.id, { attachments: [{ id, files: [] }] }))).toMatch(/needs at least 1/)
  })

  it('are all refused when one is invalid', async () => {
    const worker = await created({ attachments: [firstAid()] })
    const [{ id }] = worker.attachments
    const body = { lastName: 'Else', attachments: [{ id, documentNumber: 'C3' }, { id: 'nothing' }] }
    expect(await refusal(update(worker.id, body))).toMatch(/attachments\[1\]\.id: is not a document/)
    expect(sandbox.workers.find(worker.id, first)?.person.lastName).not.toBe('Else')
    const twice = { attachments: [{ id }, { id }] }
    expect(await refusal(update(worker.id, twice))).toMatch(/attachments\[1\]\.id: is named twice/)
    const moved = { rightToWork: [{ id }] }
    expect(await refusal(update(worker.id, moved))).toMatch(/is not a document in rightToWork/)
    const other = { attachments: [{ id, documentId: document('CV').documentId }] }
    expect(await refusal(update(worker.id, other))).toMatch(/documentId: a document cannot become another/)
  })
})

describe('a locked document', () => {
  const seeded = async (test: (one: WorkerDocument) => boolean) => {
    for (const worker of sandbox.workers.all()) {
      const found = worker.agencies.has(first) && worker.documents.find(test)
      if (found) return { worker: worker.id, document: found }
    }
    throw new Error('the generated world has no such document')
  }

  it('was validated by a company', async () => {
    const { worker, document } = await seeded(one => one.validatedBy === 'company')
    const body = { rightToWork: [{ id: document.id, expiration: '2040-01-01' }] }
    expect(await refusal(update(worker, body))).toMatch(
      /^400 .*is locked, because it was validated by company/,
    )
  })

  it('waits for a manual verification; the same one that does not is open', async () => {
    const body = (id: string) => ({ attachments: [{ id, expiration: '2040-01-01' }] })
    const pending = await seeded(one => one.isPending === true)
    expect(await refusal(update(pending.worker, body(pending.document.id)))).toMatch(/^400 .*pending/)
    const open = await seeded(one => one.isPending === false)
    expect((await update(open.worker, body(open.document.id))).status).toBe(200)
  })

  it('was confirmed by a smart check', async () => {
    const worker = await created({ attachments: [card('12345678')] })
    const body = { attachments: [{ id: worker.attachments[0].id, files: [pdf, png] }] }
    expect(await refusal(update(worker.id, body))).toMatch(/^400 .*validated by smart check/)
  })
})

it('hides an agency-specific document from other agencies', async () => {
  const worker = await created({ attachments: [document('CV'), firstAid()] })
  const kept = sandbox.workers.find(worker.id, first)!
  const agencies = new Map(kept.agencies).set(second, { agencyId: 'Z-1', active: true })
  sandbox.workers.save({ ...kept, agencies })
  const seen = await update(worker.id, { active: true }, 'second-agency')
  expect(seen.body.data.attachments.map(({ documentType }: Body) => documentType)).toEqual(['Site first aid'])
  const body = { attachments: [{ id: worker.attachments[0].id, files: [png] }] }
  expect(await refusal(update(worker.id, body, 'second-agency'))).toMatch(
    /belongs to another agency, which alone may change it/,
  )
  expect((await update(worker.id, body)).status).toBe(200)
})

describe('a smart check', () => {
  it('stores the verification and the expiry of the register', async () => {
    const { attachments } = await created({ attachments: [card('12345678', { expiration: '2026-12-31' })] })
    const [{ expiration, verification }] = attachments
    expect(verification).toMatchObject({
      verified: true,
      cardTypeName: 'CSCS Labourer card',
      documentNumber: '12345678',
      occupationQualifications: [{ qual: 'CSCS Labourer card' }],
    })
    expect(expiration).toBe(`${verification.expiry}T00:00:00.000Z`)
    expect(verification.expiry > '2026-12-31').toBe(true)
  })

  it.each([
    ['12345670', /does not confirm/],
    ['12345679', /does not confirm/],
    ['1234', /documentNumber: is required for CSCS Labourer card, as the 8 digits/],
  ])('of card %s rejects the whole operation', async (number, reason) => {
    const body = person({ attachments: [card(number)] })
    const answer = write('POST /workers', body, sandboxKeys.agency)
    expect(await refusal(answer)).toMatch(reason)
    expect((await write('POST /workers', { ...body, attachments: [] }, sandboxKeys.agency)).status).toBe(200)
  })

  it('is made on an update too', async () => {
    const { id } = await created()
    expect(await refusal(update(id, { attachments: [card('00000000')] }))).toMatch(/does not confirm/)
    const { attachments } = await updated(id, { attachments: [card('00000001')] })
    expect(attachments[0].verification.verified).toBe(true)
  })

  it('is made only where a connected company asks for it', async () => {
    for (const company of sandbox.world.all('companies')) setCardChecks(company, false)
    const { attachments } = await created({ attachments: [card('12345670')] })
    expect(attachments[0]).toMatchObject({ expiration: '2030-05-31T00:00:00.000Z' })
    expect(attachments[0].verification).toBeUndefined()
  })
})
