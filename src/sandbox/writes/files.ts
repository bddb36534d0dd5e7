/** Files of a document: sent in the body as data URLs, or uploaded before and named by token. */
import { isFileName, readDataUrl, type TypedBytes, typedBytes } from '../../lib/file-kind.ts'
import { ApiError, Declined } from '../refusals/api-error.ts'
import type { FileInput } from './body.ts'
import type { Uploads } from './storage.ts'

/** The caller, worker and part of the worker that an upload token must be bound to. */
export interface FileContext {
  readonly uploads: Uploads
  readonly caller: string
  readonly agency: string
  /** Undefined while a worker is created: no upload can be bound to it yet. */
  readonly workerId: string | undefined
  readonly purpose: string
  readonly nowMs: number
}

/** A file that passed every check and is not stored yet. */
export interface CheckedFile extends TypedBytes {
  readonly fileName: string
  readonly docType?: string
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
      : accepted(readDataUrl(file.content), `${field}.content`)
  return {
    fileName: file.fileName,
    ...(file.docType === undefined ? {} : { docType: file.docType }),
    bytes,
    type,
  }
}

function accepted(checked: TypedBytes | string, field: string): TypedBytes {
  if (typeof checked === 'string') throw new ApiError(400, `${field}: ${checked}`)
  return checked
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
  // The same refusal for every reason, so that a token tells nothing to another caller.
  if (!isBound) {
    throw new ApiError(400, `${field}: is not valid for this caller, worker, agency and collection`)
  }
  if (context.nowMs >= upload.expiresMs) throw new Declined(`${field}: has expired`)
  if (!upload.bytes) throw new ApiError(400, `${field}: nothing was uploaded for it`)
  if (upload.bytes.length !== upload.size) {
    throw new ApiError(400, `${field}: ${upload.bytes.length} bytes were uploaded, ${upload.size} declared`)
  }
  return accepted(typedBytes(upload.bytes, upload.contentType), field)
}
