/**
 * Opens all HTTP connections of Muster, with undici's agents and its `request` only. Loading all of undici, with fetch, web
 * sockets, caches and mocks, would take 60 ms of CPU.
 */
import type { LookupFunction } from 'node:net'
import type { buildConnector, Agent as WholeAgent } from 'undici'
import connect from 'undici/lib/api/api-connect.js'
import request from 'undici/lib/api/api-request.js'
import DirectAgent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import type { HttpProxy } from '../lib/web/proxy.ts'

// Undici itself adds its request functions like this.
Object.assign(Dispatcher.prototype, { request, connect })

export type Agent = Pick<WholeAgent, 'request' | 'close' | 'destroy'>

export interface AgentOptions {
  /** Milliseconds until the connection is established, TLS included. */
  readonly connectTimeout: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  readonly connections?: number
  /** Resolves host names of requests that do not use a proxy. */
  readonly lookup?: LookupFunction
}

/** Milliseconds within which a proxy must connect to the host or refuse. */
const tunnelTimeout = 30_000

/** A failure between this machine and the proxy. */
export class ProxyFailure extends Error {
  /** Code of the socket or the handshake, or `PROXY_407` for the status of a refusal. */
  readonly code: string

  constructor(code: string, cause: unknown) {
    super(code, { cause })
    this.code = code
  }
}

export function openAgent(
  proxy: HttpProxy | undefined,
  { connectTimeout: timeout, lookup, ...options }: AgentOptions,
): Agent {
  // Explicit, so that no setting of the process can turn off certificate checks.
  const tls = { timeout, rejectUnauthorized: true }
  if (!proxy) return new DirectAgent({ ...options, connect: { ...tls, ...(lookup && { lookup }) } })
  return new ProxyAgent({
    ...options,
    uri: proxy.url,
    ...(proxy.authorization !== undefined && { token: proxy.authorization }),
    // Sends plain http to the proxy without a tunnel: many proxies open tunnels only to port 443.
    proxyTunnel: false,
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (origin, { connect: open, ...more }: Pool.Options) =>
      new Pool(origin, {
        ...more,
        headersTimeout: tunnelTimeout,
        connect: marked(open as buildConnector.connector),
      }),
  })
}

/** Marks connection errors of the proxy, as their code alone does not show which connection failed. */
function marked(open: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    open(options, (...[error, socket]) => {
      if (error === null) callback(null, socket)
      else callback(new ProxyFailure(String(Object(error).code), error), null)
    })
}

/** Returns the proxy failure behind an error; undefined if there is none. */
export function proxyFailure(error: unknown): ProxyFailure | undefined {
  if (error instanceof ProxyFailure) return error
  if (!(error instanceof Error)) return undefined
  const status = /^Proxy response \((\d+)\)|^Proxy Authentication Required \((407)\)/.exec(error.message)
  return status ? new ProxyFailure(`PROXY_${status[1] ?? status[2]}`, error) : proxyFailure(error.cause)
}
