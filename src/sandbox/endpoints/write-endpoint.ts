/** What a writing endpoint is: a method, a path and a function from a checked request and its body to the envelope. */
import type { WritePath } from '../access.ts'
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
  readonly answer: (request: WriteRequest) => { readonly data: unknown; readonly meta?: object }
}
