/** The OpenAPI 3.1 document of what the sandbox serves, put together from what serves it. */

import type { Endpoint } from '../declare/endpoint.ts'
import type { WriteEndpoint } from '../declare/write-endpoint.ts'
import { endpoints } from '../endpoints/endpoints.ts'
import { type Access, access, type EndpointPath, type WritePath, writeAccess } from '../keys/access.ts'
import { writeEndpoints } from '../server/write-routes.ts'
import { closed, type JsonSchema, list, named, text, whole } from './json-schema.ts'
import { metricSchemas } from './metric-schemas.ts'
import { type Operation, operations } from './operations.ts'
import { inputSchema, querySchemas } from './parameter-schema.ts'
import { readSchemas } from './read-schemas.ts'
import { writeSchemas } from './write-schemas.ts'

/** The version of the contract, not of the sandbox. */
const CONTRACT_VERSION = '1.0.0'

const refusals: Readonly<Record<number, string>> = {
  400: 'An invalid or missing parameter, id, filter or body, or a locked document.',
  401: 'The key is missing, invalid, revoked or expired.',
  403: 'The key, its address or its owner may not do this.',
  404: 'There is no such record, or the key may not see it.',
  405: 'The route does not have this method.',
  409: 'A worker matches, or another worker has the same identity.',
  413: 'The body is larger than 50 MB.',
  429: 'The limit of the minute or of the day is reached.',
  500: 'An unexpected internal error.',
}

const description = `A stand-in for the service. Optional values are left out or null: a client takes both. \`fields\`
leaves out everything else. Values under \`x-extensible-enum\` are those the contract names; the service may add to them.
\`x-privacy\` says what is personal, restricted or free text.`

type AnyEndpoint = Endpoint | WriteEndpoint

/** `url` is the base URL, with its base path. */
export function openApiDocument(url: string): JsonSchema {
  return {
    openapi: '3.1.0',
    info: { title: 'Workforce and Programme Data API', version: CONTRACT_VERSION, description },
    servers: [{ url }],
    security: [{ apiKey: [] }],
    paths: pathsOf([...endpoints, ...writeEndpoints]),
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'The API key.' } },
      schemas: { ...readSchemas, ...metricSchemas, ...writeSchemas, ...envelopeSchemas },
    },
  }
}

const envelopeSchemas: Readonly<Record<string, JsonSchema>> = {
  PageMeta: closed({ page: whole, limit: whole, total: whole }),
  Refusal: closed({ success: { const: false }, error: closed({ code: text, message: text }) }),
}

/** `/companies/:id` as `/companies/{id}`. */
const templateOf = (path: string): string => path.replace(/:(\w+)/g, '{$1}')

function pathsOf(all: readonly AnyEndpoint[]): Record<string, Record<string, JsonSchema>> {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const endpoint of all) {
    const template = templateOf(endpoint.path)
    const method = 'method' in endpoint ? endpoint.method.toLowerCase() : 'get'
    paths[template] = { ...paths[template], [method]: operationOf(endpoint) }
  }
  return paths
}

function operationOf(endpoint: AnyEndpoint): JsonSchema {
  const { path, parameters } = endpoint
  const operation = operations[path]
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: 'Id or short id.',
    schema: text,
  }))
  const inQuery = Object.entries(querySchemas(parameters)).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description,
    schema,
  }))
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    ...accessOf(path),
    parameters: [...inPath, ...inQuery],
    ...('body' in endpoint && {
      requestBody: { required: true, content: content(inputSchema(endpoint.body)) },
    }),
    responses: {
      200: { description: 'Done.', content: content(envelopeOf(operation, 'fields' in parameters)) },
      ...refusalsOf(endpoint),
    },
  }
}

function accessOf(path: EndpointPath | WritePath): JsonSchema {
  const rule: Access = { ...access, ...writeAccess }[path]
  const kind = rule.companyKeysOnly ? 'company' : rule.agencyKeysOnly ? 'agency' : 'any'
  return { 'x-key-kind': kind, ...(rule.scope && { 'x-scope': rule.scope }) }
}

const content = (schema: JsonSchema): JsonSchema => ({ 'application/json': { schema } })

function envelopeOf({ answer, kind }: Operation, selectsFields: boolean): JsonSchema {
  const data = named(answer)
  const success = { const: true }
  if (kind === 'record') return closed({ success, data: selectsFields ? data : withId(answer) })
  if (kind === 'upload') return closed({ success, data, meta: closed({}) })
  return closed({ success, data: list(data), meta: named(kind === 'page' ? 'PageMeta' : 'MetricsMeta') })
}

/** Where no fields are selected, a record has its id. */
function withId(answer: string): JsonSchema {
  const { properties = {} } = { ...readSchemas, ...writeSchemas }[answer] as { properties?: JsonSchema }
  return 'id' in properties ? { allOf: [named(answer), { type: 'object', required: ['id'] }] } : named(answer)
}

function refusalsOf(endpoint: AnyEndpoint): Record<string, JsonSchema> {
  const isWrite = 'method' in endpoint
  const finds = endpoint.path.includes(':id') || ['/users', '/files/uploads'].includes(endpoint.path)
  const possible = Object.entries(refusals).filter(
    ([status]) => (status !== '404' || finds) && (!['409', '413'].includes(status) || isWrite),
  )
  return Object.fromEntries(
    possible.map(([status, meaning]) => [
      status,
      { description: meaning, content: content(named('Refusal')) },
    ]),
  )
}
