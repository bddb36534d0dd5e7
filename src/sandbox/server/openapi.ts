/** Serves GET /openapi.json, without a key: the OpenAPI 3.1 document, derived from the declarations of the endpoints. */
import type { FastifyInstance } from 'fastify'
import type { Endpoint } from '../declare/endpoint.ts'
import { querySchemas } from '../declare/parameters.ts'
import {
  closed,
  inputSchema,
  type JsonSchema,
  list,
  type NamedSchema,
  refTo,
  text,
} from '../declare/schemas.ts'
import { endpoints } from '../endpoints/endpoints.ts'
import type { Access } from '../keys/keys.ts'
import { refusals } from '../refusals.ts'

/** The version of the contract, not of the sandbox. */
const contractVersion = '1.0.0'

const refusal: NamedSchema = {
  name: 'Refusal',
  schema: closed({ success: { const: false }, error: closed({ code: text, message: text }) }),
}

const description = `A stand-in for the service. Optional values are left out or null: a client takes both. \`fields\`
leaves out everything else. Values under \`x-extensible-enum\` are those the contract names; the service may add to them.
\`x-privacy\` says what is personal, restricted or free text.`

/** Builds the document on the first request, because `url` is known only once the port is. */
export function serveOpenApi(app: FastifyInstance, url: () => string): void {
  let document: JsonSchema | undefined
  app.get('/openapi.json', async () => {
    document ??= openApiDocument(url())
    return document
  })
}

/** `url` is the base URL, with its base path. */
function openApiDocument(url: string): JsonSchema {
  return {
    openapi: '3.1.0',
    info: { title: 'Workforce and Programme Data API', version: contractVersion, description },
    servers: [{ url }],
    security: [{ apiKey: [] }],
    paths: paths(),
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'The API key.' } },
      schemas: Object.fromEntries(
        [refusal, ...endpoints.flatMap(schemasOf)].map(({ name, schema }) => [name, schema]),
      ),
    },
  }
}

function schemasOf({ returns, meta }: Endpoint): readonly NamedSchema[] {
  const withUsed = (one: NamedSchema): readonly NamedSchema[] => [one, ...(one.uses ?? []).flatMap(withUsed)]
  return [returns, ...(meta ? [meta] : [])].flatMap(withUsed)
}

function paths(): Record<string, Record<string, JsonSchema>> {
  const found: Record<string, Record<string, JsonSchema>> = {}
  for (const endpoint of endpoints) {
    // `/companies/:id` as `/companies/{id}`.
    const template = endpoint.path.replace(/:(\w+)/g, '{$1}')
    found[template] = { ...found[template], [endpoint.method.toLowerCase()]: operationOf(endpoint) }
  }
  return found
}

export const operationIdOf = ({ tool, operationId = `open_api_${tool}` }: Endpoint): string => operationId

export function summaryOf({ summary, keys }: Endpoint): string {
  return keys === undefined ? summary : `${summary} ${keys === 'company' ? 'Company' : 'Agency'} keys only.`
}

function operationOf(endpoint: Endpoint): JsonSchema {
  const { path, parameters, body } = endpoint
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: 'Id or short id.',
    schema: text,
  }))
  const inQuery = Object.entries(querySchemas(parameters)).map(
    ([name, { description: meaning, ...schema }]) => ({
      name,
      in: 'query',
      description: meaning,
      schema,
    }),
  )
  return {
    operationId: operationIdOf(endpoint),
    summary: summaryOf(endpoint),
    ...accessOf(endpoint),
    parameters: [...inPath, ...inQuery],
    ...(body && { requestBody: { required: true, content: content(inputSchema(body)) } }),
    responses: {
      200: { description: 'Done.', content: content(envelopeOf(endpoint)) },
      ...refusalsOf(endpoint),
    },
  }
}

function accessOf({ keys = 'any' as const, scope }: Pick<Access, 'scope'> & { keys?: string }): JsonSchema {
  return { 'x-key-kind': keys, ...(scope && { 'x-scope': scope }) }
}

const content = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } })

function envelopeOf({ returns, isList, meta, parameters }: Endpoint): JsonSchema {
  // A complete record has its id; a record with selected fields has it only if the id is among them.
  const isFullRecord = !isList && !('fields' in parameters) && 'id' in propertiesOf(returns)
  const record = isFullRecord
    ? { allOf: [refTo(returns), { type: 'object', required: ['id'] }] }
    : refTo(returns)
  return closed({
    success: { const: true },
    data: isList ? list(record) : record,
    ...(meta && { meta: refTo(meta) }),
  })
}

const propertiesOf = ({ schema }: NamedSchema) => (schema.properties ?? {}) as JsonSchema

function refusalsOf({ path, method, mayMiss }: Endpoint): Record<string, JsonSchema> {
  const finds = path.includes(':id') || mayMiss
  const isWrite = method !== 'GET'
  const possible = Object.entries(refusals).filter(
    ([status]) => (status !== '404' || finds) && (!['409', '413'].includes(status) || isWrite),
  )
  return Object.fromEntries(
    possible.map(([status, { meaning }]) => [
      status,
      { description: meaning, content: content(refTo(refusal)) },
    ]),
  )
}
