/** What the writes answer with. */
import { UPLOAD_SECONDS } from '../uploads/upload-desk.ts'
import { closed, flag, type JsonSchema, list, moment, text } from './json-schema.ts'

const file = closed(
  { fileName: text, url: { type: 'string', format: 'uri' }, docType: text },
  { required: ['fileName', 'url'] },
)

const verification = closed(
  {
    verified: flag,
    cardTypeName: text,
    serial: text,
    customerName: text,
    documentNumber: text,
    photoType: text,
    expiry: { type: 'string', format: 'date' },
    occupationQualifications: list(closed({ qual: text })),
    lastVerifiedAt: moment,
  },
  { description: 'What a smart check of the card found.' },
)

const document = closed(
  {
    id: text,
    type: { type: 'string', enum: ['attachment', 'rightToWork'] },
    documentType: text,
    documentNumber: text,
    expiration: moment,
    indefinite: flag,
    createdAt: moment,
    files: list(file),
    verification,
  },
  { required: ['id', 'type', 'documentType', 'indefinite', 'createdAt', 'files'] },
)

const worker = { id: text, reference: text, attachments: list(document), rightToWork: list(document) }

export const writeSchemas: Readonly<Record<string, JsonSchema>> = {
  CreatedWorker: closed({ ...worker, createdAt: moment }),
  UpdatedWorker: closed({ ...worker, updatedAt: moment }),
  UploadInstructions: closed({
    uploadUrl: { type: 'string', format: 'uri', description: 'Takes the bytes by PUT, without the API key.' },
    uploadToken: text,
    method: { const: 'PUT' },
    headers: closed({ 'Content-Type': text }),
    expiresIn: { const: UPLOAD_SECONDS, description: 'Seconds.' },
  }),
}
