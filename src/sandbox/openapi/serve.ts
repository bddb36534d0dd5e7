/** GET /openapi.json: beside the API, for everybody; made when it is first asked for. */
import type { FastifyInstance } from 'fastify'
import { openApiDocument } from './document.ts'
import type { JsonSchema } from './json-schema.ts'

/** `url` is known only once the port is. */
export function serveOpenApi(app: FastifyInstance, url: () => string): void {
  let document: JsonSchema | undefined
  app.get('/openapi.json', async () => {
    document ??= openApiDocument(url())
    return document
  })
}
