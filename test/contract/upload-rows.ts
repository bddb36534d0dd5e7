/** The fields of an upload's declaration, the id of a document, and the edges of their sizes. */
import { expect } from 'vitest'
import type { Body } from '../sandbox/open-sandbox.ts'
import { document, PDF, pdf, person, png } from '../sandbox/writes/worker-inputs.ts'
import { expectRefusal, type Row } from './row.ts'
import type { Stand } from './stand.ts'
import { declaration, workerOf } from './targets.ts'
import { invoiceUpload } from './write-rows.ts'

const UPLOAD = 'POST /files/uploads'
const declare = (stand: Stand, changes: Body) =>
  stand.send(UPLOAD, { key: 'agency', body: declaration(workerOf(stand), changes) })

const named = (length: number) => `${'x'.repeat(length - 4)}.pdf`

const FIELDS: Readonly<Record<string, { good: readonly unknown[]; bad: readonly unknown[] }>> = {
  resource: { good: ['worker'], bad: [undefined, 'expense', ''] },
  recordId: { good: [], bad: [undefined, '', 'a b'] },
  purpose: { good: ['attachments', 'rightToWork'], bad: [undefined, 'payment', 'nothing'] },
  fileName: { good: ['a.pdf', named(255)], bad: [undefined, '', 'a', named(256)] },
  contentType: {
    good: ['application/pdf', 'image/jpeg', 'image/png'],
    bad: [undefined, 'application/zip', 'image/gif'],
  },
  size: { good: [1, 20_971_520], bad: [undefined, 0, -1, 1.5, '9', 20_971_521] },
}

const fields: readonly Row[] = Object.entries(FIELDS).map(([name, { good, bad }]) => ({
  kind: 'field',
  what: `${UPLOAD} ${name}`,
  where: '4',
  show: async stand => {
    for (const value of good) expect((await declare(stand, { [name]: value })).status, `${value}`).toBe(200)
    for (const value of bad) expectRefusal(await declare(stand, { [name]: value }), 400, `${name}: `)
    if (name === 'recordId') expectRefusal(await declare(stand, { recordId: 'unknown' }), 404)
    if (name === 'resource' || name === 'purpose') {
      expect((await stand.send(UPLOAD, { body: invoiceUpload(stand) })).status).toBe(200)
    }
  },
}))

const documentId: Row = {
  kind: 'field',
  what: "a document's id",
  where: '2, 4',
  show: async stand => {
    const attachments = [document('Site first aid'), document('Traffic Marshal certificate')]
    const { id, ...before } = (
      await stand.send('POST /workers', { key: 'agency', body: person({ attachments }) })
    ).body.data
    const update = (change: Body) =>
      stand.send(`PATCH /workers/${id}`, { key: 'agency', body: { attachments: [change] } })
    const [first, second] = before.attachments
    const after = (await update({ id: first.id, files: [png] })).body.data.attachments
    expect(after).toEqual([
      { ...first, files: [expect.objectContaining({ fileName: png.fileName })] },
      second,
    ])
    const added = (await update(document('Driving licence', { files: [pdf, pdf] }))).body.data.attachments
    expect(added).toHaveLength(3)
    expectRefusal(await update({ id: 'unknown', files: [pdf] }), 400, 'id: ')
  },
}

const uploadToken: Row = {
  kind: 'field',
  what: "a document's files[].uploadToken",
  where: '4',
  show: async stand => {
    const { uploadUrl, uploadToken: token, headers } = (await declare(stand, { size: PDF.length })).body.data
    expect((await fetch(uploadUrl, { method: 'PUT', body: PDF, headers })).status).toBe(200)
    const attach = (given: string) => {
      const files = [{ fileName: 'aid.pdf', uploadToken: given }]
      const body = { attachments: [document('Site first aid', { files })] }
      return stand.send(`PATCH /workers/${workerOf(stand)}`, { key: 'agency', body })
    }
    expectRefusal(await attach('another'), 400, 'uploadToken: ')
    const { body } = await attach(token)
    const { url } = body.data.attachments.at(-1).files[0]
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(PDF)
  },
}

export const uploadRows: readonly Row[] = [...fields, documentId, uploadToken]
