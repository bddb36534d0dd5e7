/** Serves POST /files/uploads: a link to upload one file to, and the token by which an update of its record names it. */
import * as z from 'zod'
import { fileTypes, isFileName, largestFile } from '../../lib/file-kind.ts'
import { type EndpointRequest, endpoint } from '../declare/endpoint.ts'
import { idParameter } from '../declare/parameters.ts'
import { closed, type NamedSchema, text as plainText } from '../declare/schemas.ts'
import { requireScope } from '../keys/keys.ts'
import { checkCompanies, chosenAgency, isBetweenProviderAndClient, mayNameCompany } from '../keys/scope.ts'
import { pathReader, type StoredRecord } from '../record.ts'
import { demand, RequestDeclined } from '../refusals.ts'
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
    contentType: z.enum(fileTypes, `is not one of ${fileTypes.join(', ')}`),
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
  summary: 'A temporary link to upload one file to, and the token that an update of its record takes.',
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
    const valid: readonly string[] = purposes[body.resource]
    const reason = `is not ${valid.join(' or ')}, as resource ${body.resource} asks for`
    demand(valid.includes(body.purpose), `purpose: ${reason}`)
    if (query.company !== undefined) checkCompanies(request, [query.company], 403)
    const find = body.resource === 'worker' ? workerOf : invoiceOf
    const record = find(request, query, body.recordId)
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

interface PartySelection {
  readonly agency?: string | undefined
  readonly company?: string | undefined
}

function workerOf(request: EndpointRequest, { agency: named }: PartySelection, recordId: string) {
  demand(request.key.kind === 'agency', 'workers take files from agency-scoped keys only', 403)
  const agency = chosenAgency(request, named, 404)
  const worker = request.desk.workers.find(recordId, agency)
  demand(worker, 'worker not found, or not represented by the selected agency', 404)
  return { recordId: worker.id, agency }
}

const companyId = pathReader('company.id')
const agencyId = pathReader('agency.id')
const supplierMayPay = pathReader('config.supplierActions.markInvoicePaid.supplier')

function invoiceOf(request: EndpointRequest, selection: PartySelection, recordId: string) {
  const { key, world } = request
  const agency = key.kind === 'agency' ? chosenAgency(request, selection.agency, 404) : selection.agency
  const invoice = world.find('invoices', recordId)
  const isFound = invoice && isWithin(request, invoice, { ...selection, agency })
  demand(isFound, 'invoice not found, or outside the access of this key', 404)
  const company = world.get('companies', String(companyId(invoice)))
  const mayPay = key.kind === 'company' || supplierMayPay(company) === true
  demand(mayPay, 'agencies may not report the invoices of this company as paid', 403)
  if (invoice.status !== 'pending') {
    throw new RequestDeclined(
      `recordId: the invoice is ${invoice.status}, only a pending one takes a payment`,
    )
  }
  return { recordId: String(invoice.id), ...(agency === undefined ? {} : { agency }) }
}

function isWithin(
  { key, world }: EndpointRequest,
  invoice: StoredRecord,
  { agency, company }: PartySelection,
): boolean {
  if (!mayNameCompany(key, world, String(companyId(invoice)))) return false
  if (company !== undefined && companyId(invoice) !== company) return false
  if (agency !== undefined && agencyId(invoice) !== agency) return false
  return key.kind !== 'agency' || !isBetweenProviderAndClient(invoice)
}
