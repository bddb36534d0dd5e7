/**
 * Undici's agents with the one way to ask that is used here: every connection of Muster over HTTP is opened by them. All of
 * undici, with fetch, web sockets, caches and mocks, takes 60 ms of the processor to load.
 */
import type { LookupFunction } from 'node:net'
import type { buildConnector, Agent as WholeAgent } from 'undici'
import connect from 'undici/lib/api/api-connect.js'
import request from 'undici/lib/api/api-request.js'
import DirectAgent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import type { HttpProxy } from '../../lib/web/proxy.ts'

// As undici itself puts its ways to ask together.
Object.assign(Dispatcher.prototype, { request, connect })

export type Agent = Pick<WholeAgent, 'request' | 'close' | 'destroy'>

export interface AgentOptions {
  /** Milliseconds until the connection is established, TLS included. */
  readonly connectTimeout: number
  readonly headersTimeout: number
  readonly bodyTimeout: number
  readonly connections?: number
  /** Resolves the names of hosts, where requests are sent directly. */
  readonly lookup?: LookupFunction
}

/** Milliseconds within which a proxy must have connected to the host, or have refused to. */
const tunnelTimeout = 30_000

/** A failure between this machine and the proxy. */
export class ProxyFailure extends Error {
  /** Of the socket or the handshake, or `PROXY_407` for the status with which it refused. */
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
  // Explicit, so that no setting of the process can switch the check of certificates off.
  const tls = { timeout, rejectUnauthorized: true }
  if (!proxy) return new DirectAgent({ ...options, connect: { ...tls, ...(lookup && { lookup }) } })
  return new ProxyAgent({
    ...options,
    uri: proxy.url,
    ...(proxy.authorization !== undefined && { token: proxy.authorization }),
    // Plain http is sent to the proxy as it is: many open tunnels to port 443 only.
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

/** Which leg of the way an error is about, its code alone does not say. */
function marked(open: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    open(options, (...[error, socket]) => {
      if (error === null) callback(null, socket)
      else callback(new ProxyFailure(String(Object(error).code), error), null)
    })
}

/** Undefined for an error that is not about the proxy. */
export function proxyFailure(error: unknown): ProxyFailure | undefined {
  if (error instanceof ProxyFailure) return error
  if (!(error instanceof Error)) return undefined
  const status = /^Proxy response \((\d+)\)|^Proxy Authentication Required \((407)\)/.exec(error.message)
  return status ? new ProxyFailure(`PROXY_${status[1] ?? status[2]}`, error) : proxyFailure(error.cause)
}
