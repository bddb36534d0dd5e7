/** A service as the layer calls it: a request in, an answer out. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Agent } from 'undici'
import { endpoints } from '../../src/sandbox/endpoints/endpoints.ts'
import { errorBody } from '../../src/sandbox/refusals.ts'
import { basePath } from '../../src/sandbox/server/routes.ts'
import type { CollectionName } from '../../src/sandbox/world.ts'

export interface ServiceRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface ServiceAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string | Buffer
}

export type Service = (request: ServiceRequest) => Promise<ServiceAnswer>

/** Those of one connection, and those that follow from the body. */
const ownHeaders = ['connection', 'keep-alive', 'host', 'expect', 'transfer-encoding', 'content-length']

const passedOn = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.includes(name)))

/** The service that listens at this origin. */
export function serviceAt(origin: string, agent: Agent): Service {
  return async ({ method, url, headers, body }) => {
    const sent = body.length > 0 ? { body } : {}
    const answer = await agent.request({
      ...{ origin, path: url, method: method as 'GET' },
      ...{ headers: passedOn(headers), ...sent },
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: passedOn(answer.headers), body: bytes }
  }
}

export function refusal(status: number, message: string): ServiceAnswer {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  return { status, headers, body: JSON.stringify(errorBody(status, message)) }
}

export interface Route {
  /** Below the base path, with `:id` for what varies. */
  readonly path: string
  readonly isList: boolean
  readonly collection?: CollectionName
}

const routes = endpoints
  .map(({ path, isList = false, collection }) => ({
    route: { path, isList, ...(collection && { collection }) },
    pattern: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`),
  }))
  .toSorted((one, other) => one.route.path.split(':').length - other.route.path.split(':').length)

/** Below the base path, without the query; undefined outside of the API. */
export function apiPath(url: string): string | undefined {
  const path = decoded(url.split('?')[0] ?? '')
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined
}

export const routeOf = (path: string): Route | undefined =>
  routes.find(({ pattern }) => pattern.test(path))?.route

/** However the address is written. */
function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    // A URIError: the service refuses such an address.
    return path
  }
}
