/** POST /files/uploads: a link to upload one file to, and the token by which an update of its record names it. */
import * as z from 'zod'
import { fileTypes, isFileName, largestFile } from '../../lib/file-kind.ts'
import { type EndpointRequest, endpoint } from '../declare/endpoint.ts'
import { closed, type NamedSchema, text as plainText } from '../declare/json-schema.ts'
import { idParameter } from '../declare/parameters.ts'
import { requireScope } from '../keys/access.ts'
import { chosenAgency, isBetweenProviderAndClient } from '../keys/agencies.ts'
import { checkCompanies, mayNameCompany } from '../keys/scope.ts'
import { pathReader, type StoredRecord } from '../records/record.ts'
import { findByAnyId } from '../records/short-id.ts'
import { ApiError, Declined } from '../refusals/api-error.ts'
import { parseBody, text } from '../writes/body.ts'
import { uploadSeconds } from '../writes/storage.ts'

const purposes = { invoice: ['payment'], worker: ['attachments', 'rightToWork'] } as const

const upload = z.strictObject(
  {
    resource: z.enum(['invoice', 'worker'], 'is neither invoice nor worker'),
    recordId: text.pipe(idParameter),
    purpose: text,
    fileName: z
      .string('is required')
      .refine(isFileName, 'is not a file name of 1 to 255 characters with an extension'),
    contentType: z.enum(fileTypes, `is none of ${fileTypes.join(', ')}`),
    size: z
      .int('is not a whole number of bytes')
      .min(1, 'is below 1 byte')
      .max(largestFile, `is above ${largestFile} bytes`),
  },
  'is not an object',
)

const instructions: NamedSchema = {
  name: 'UploadInstructions',
  schema: closed({
    uploadUrl: { type: 'string', format: 'uri', description: 'Takes the bytes by PUT, without the API key.' },
    uploadToken: plainText,
    method: { const: 'PUT' },
    headers: closed({ 'Content-Type': plainText }),
    expiresIn: { const: uploadSeconds, description: 'Seconds.' },
  }),
}

/** The scope depends on the resource that the body names, so the handler checks it. */
export const fileUpload = endpoint({
  method: 'POST',
  path: '/files/uploads',
  operationId: 'createFileUpload',
  summary: 'A temporary link to put one file at, and the token that an update of its record takes.',
  returns: instructions,
  meta: { name: 'NoMeta', schema: closed({}) },
  mayMiss: true,
  parameters: {
    agency: idParameter.optional().describe('Agency of the record, where the key has several.'),
    company: idParameter.optional().describe('Company of the record.'),
  },
  body: upload,
  answer: (request, query) => {
    const body = parseBody(upload, request.body)
    requireScope(request.key, `write:${body.resource}s`)
    if (!(purposes[body.resource] as readonly string[]).includes(body.purpose)) {
      const valid = purposes[body.resource].join(' or ')
      throw new ApiError(400, `purpose: is not ${valid}, as resource ${body.resource} asks for`)
    }
    if (query.company !== undefined) checkCompanies(request, [query.company], 403)
    const record =
      body.resource === 'worker' ? workerOf(request, query, body) : invoiceOf(request, query, body)
    const granted = request.desk.uploads.grant({ ...body, ...record, caller: request.key.key }, request.nowMs)
    return {
      data: {
        uploadUrl: `${request.desk.files.origin}/storage/uploads/${granted.slot}`,
        uploadToken: granted.token,
        method: 'PUT',
        headers: { 'Content-Type': granted.contentType },
        expiresIn: uploadSeconds,
      },
      meta: {},
    }
  },
})

interface Selection {
  readonly agency?: string | undefined
  readonly company?: string | undefined
}

interface Wanted {
  readonly recordId: string
}

function workerOf(request: EndpointRequest, { agency: named }: Selection, { recordId }: Wanted) {
  if (request.key.kind !== 'agency')
    throw new ApiError(403, 'workers take files from agency-scoped keys only')
  const agency = chosenAgency(request, named, 404)
  const worker = request.desk.workers.find(recordId, agency)
  if (!worker) throw new ApiError(404, 'worker not found, or not represented by the selected agency')
  return { recordId: worker.id, agency }
}

const companyId = pathReader('company.id')
const agencyId = pathReader('agency.id')
const supplierMayPay = pathReader('config.supplierActions.markInvoicePaid.supplier')

function invoiceOf(request: EndpointRequest, selection: Selection, { recordId }: Wanted) {
  const { key, world } = request
  const agency = key.kind === 'agency' ? chosenAgency(request, selection.agency, 404) : selection.agency
  const invoice = findByAnyId(world, 'invoices', recordId)
  if (!invoice || !isWithin(request, invoice, { ...selection, agency })) {
    throw new ApiError(404, 'invoice not found, or outside the access of this key')
  }
  const company = world.get('companies', String(companyId(invoice)))
  if (key.kind === 'agency' && supplierMayPay(company) !== true) {
    throw new ApiError(403, 'agencies may not report the invoices of this company as paid')
  }
  if (invoice.status !== 'pending') {
    throw new Declined(`recordId: the invoice is ${invoice.status}, only a pending one takes a payment`)
  }
  return { recordId: String(invoice.id), ...(agency === undefined ? {} : { agency }) }
}

function isWithin(
  { key, world }: EndpointRequest,
  invoice: StoredRecord,
  { agency, company }: Selection,
): boolean {
  if (!mayNameCompany(key, world, String(companyId(invoice)))) return false
  if (company !== undefined && companyId(invoice) !== company) return false
  if (agency !== undefined && agencyId(invoice) !== agency) return false
  return key.kind !== 'agency' || !isBetweenProviderAndClient(invoice)
}
