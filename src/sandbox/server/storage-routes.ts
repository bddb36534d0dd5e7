/** The routes of the storage beside the API: uploads of granted files, and downloads of documents. No key is needed. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../lib/clock.ts'
import { largestFile } from '../../lib/file-kind.ts'
import { ApiError } from '../refusals/api-error.ts'
import { ParameterError } from '../refusals/violations.ts'
import type { Desk } from '../writes/desk.ts'
import type { Upload, Uploads } from '../writes/storage.ts'

export async function serveStorage(
  app: FastifyInstance,
  { uploads, files }: Desk,
  clock: Clock,
): Promise<void> {
  // In a Fastify scope of its own: everywhere else a body is JSON.
  await app.register(async scope => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => body)
    scope.put('/storage/uploads/:slot', {
      bodyLimit: largestFile,
      onRequest: async request => void expected(request, uploads, clock.now()),
      handler: async (request, reply) => {
        const upload = expected(request, uploads, clock.now())
        const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        requireSize(upload, bytes.length)
        upload.bytes = bytes
        return reply.code(200).send()
      },
    })
  })
  app.get('/storage/files/:id', async (request, reply) => {
    const file = files.get((request.params as { id: string }).id)
    if (!file) throw new ApiError(404, 'no such file')
    return reply.type(file.type).send(file.bytes)
  })
}

/** Refuses by the headers alone where they show enough. */
function expected({ headers, params }: FastifyRequest, uploads: Uploads, nowMs: number): Upload {
  if (headers.authorization !== undefined) {
    const reason = 'Authorization: the upload address must not be sent the API key'
    throw new ParameterError([{ kind: 'key-at-upload', reason }])
  }
  const upload = uploads.inSlot((params as { slot: string }).slot)
  if (!upload) throw new ApiError(404, 'no such upload')
  if (nowMs >= upload.expiresMs) throw new ApiError(403, 'the upload link has expired')
  if (headers['content-type'] !== upload.contentType) {
    throw new ApiError(400, `Content-Type: is not ${upload.contentType}, as declared`)
  }
  if (headers['content-length'] !== undefined) requireSize(upload, Number(headers['content-length']))
  return upload
}

function requireSize({ size }: Upload, length: number): void {
  if (length !== size) throw new ApiError(400, `Content-Length: ${length} bytes where ${size} were declared`)
}
