/** Files of a document: sent along as data URLs, or uploaded before and named by their token. */
import { FILE_TYPES, type FileType, fileTypeOf, isFileName, LARGEST_FILE } from '../../lib/file-kind.ts'
import { ApiError } from '../api-error.ts'
import type { UploadDesk } from '../uploads/upload-desk.ts'
import type { FileInput } from './body.ts'

/** Who writes to which part of which worker; what a token has to be bound to. */
export interface FileContext {
  readonly uploads: UploadDesk
  readonly caller: string
  readonly agency: string
  /** None while a worker is created: no upload can be bound to it yet. */
  readonly workerId: string | undefined
  readonly purpose: string
  readonly nowMs: number
}

/** A file that passed every check and is not stored yet. */
export interface CheckedFile {
  readonly fileName: string
  readonly docType?: string
  readonly bytes: Buffer
  readonly type: FileType
}

/** `field` is the path of the file in the body. */
export function checkedFile(file: FileInput, field: string, context: FileContext): CheckedFile {
  if (file.fileName === undefined) throw new ApiError(400, `${field}.fileName: is required`)
  if (!isFileName(file.fileName)) {
    throw new ApiError(400, `${field}.fileName: is not a file name of 1 to 255 characters with an extension`)
  }
  if ((file.content === undefined) === (file.uploadToken === undefined)) {
    throw new ApiError(400, `${field}.content: is required, unless uploadToken is given instead`)
  }
  const { bytes, type } =
    file.content === undefined
      ? uploaded(String(file.uploadToken), `${field}.uploadToken`, context)
      : decoded(file.content, `${field}.content`)
  return {
    fileName: file.fileName,
    ...(file.docType === undefined ? {} : { docType: file.docType }),
    bytes,
    type,
  }
}

const HEAD = /^data:([a-z]+\/[a-z0-9.+-]+);base64,$/i

function decoded(content: string, field: string) {
  const comma = content.indexOf(',')
  const type = HEAD.exec(content.slice(0, comma + 1))?.[1]?.toLowerCase()
  if (type === undefined) {
    throw new ApiError(400, `${field}: is not a data URL such as data:application/pdf;base64,...`)
  }
  const base64 = content.slice(comma + 1)
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) {
    throw new ApiError(400, `${field}: is not base64 after its comma`)
  }
  return checkedBytes(Buffer.from(base64, 'base64'), type, field)
}

function checkedBytes(bytes: Buffer, declared: string, field: string) {
  const type = FILE_TYPES.find(known => known === declared)
  if (!type) throw new ApiError(400, `${field}: is declared as none of ${FILE_TYPES.join(', ')}`)
  if (bytes.length > LARGEST_FILE)
    throw new ApiError(400, `${field}: has more than 20 MB (${LARGEST_FILE} bytes)`)
  if (fileTypeOf(bytes) !== type) throw new ApiError(400, `${field}: does not begin as ${type} does`)
  return { bytes, type }
}

function uploaded(token: string, field: string, context: FileContext) {
  const upload = context.uploads.withToken(token)
  const isBound =
    upload !== undefined &&
    upload.caller === context.caller &&
    upload.resource === 'worker' &&
    upload.recordId === context.workerId &&
    upload.agency === context.agency &&
    upload.purpose === context.purpose
  // One answer for all of them: a token says nothing to whom it was not given.
  if (!isBound) {
    throw new ApiError(400, `${field}: is not valid for this caller, worker, agency and collection`)
  }
  if (context.nowMs >= upload.expiresMs) throw new ApiError(400, `${field}: has expired`)
  if (!upload.bytes) throw new ApiError(400, `${field}: nothing was uploaded for it`)
  if (upload.bytes.length !== upload.size) {
    throw new ApiError(400, `${field}: ${upload.bytes.length} bytes were uploaded, ${upload.size} declared`)
  }
  return checkedBytes(upload.bytes, upload.contentType, field)
}
