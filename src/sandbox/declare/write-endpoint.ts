/** What a writing endpoint is: a method, a path, its parameters, the schema of its body and a function from a checked request and its body to the envelope. */
import type { z } from 'zod'
import type { WritePath } from '../keys/access.ts'
import type { UploadDesk } from '../uploads/upload-desk.ts'
import type { FileStore } from '../workers/file-store.ts'
import type { WorkerBook } from '../workers/worker-book.ts'
import type { EndpointRequest } from './endpoint.ts'

/** What writes change; reads never look at it. */
export interface Desk {
  readonly workers: WorkerBook
  readonly files: FileStore
  readonly uploads: UploadDesk
}

export interface WriteRequest extends EndpointRequest {
  readonly desk: Desk
  readonly body: unknown
  readonly nowMs: number
}

export interface WriteEndpoint {
  readonly method: 'POST' | 'PATCH'
  readonly path: WritePath
  /** Of the query. */
  readonly parameters: z.ZodRawShape
  readonly body: z.ZodType
  readonly answer: (request: WriteRequest) => { readonly data: unknown; readonly meta?: object }
}
