/** Decides which requests go through a proxy, by HTTP_PROXY, HTTPS_PROXY and NO_PROXY as in most programs. */
import { isIP } from 'node:net'
import { ConfigError } from '../errors.ts'
import { addressKind, bareHost, blockList } from './address-kind.ts'

/** The variables; undefined if not set. */
export interface ProxyVariables {
  readonly http?: string | undefined
  readonly https?: string | undefined
  readonly no?: string | undefined
}

export interface HttpProxy {
  /** Without credentials, for connections and for messages. */
  readonly url: string
  /** The value of Proxy-Authorization: secret. */
  readonly authorization?: string
  readonly variable: string
}

/** Undefined for a request that is sent directly, as to this machine. Throws ConfigError if a proxy is not an address. */
export function proxyFor(target: URL, { http, https, no = '' }: ProxyVariables): HttpProxy | undefined {
  if (addressKind(target.hostname) === 'loopback' || isExcepted(target, no)) return undefined
  // As in undici, HTTP_PROXY alone applies to https too.
  if (target.protocol === 'https:' && https !== undefined) return readProxy(https, 'HTTPS_PROXY')
  return http === undefined ? undefined : readProxy(http, 'HTTP_PROXY')
}

function isExcepted({ hostname, protocol, port }: URL, none: string): boolean {
  const host = bareHost(hostname).toLowerCase()
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  return none.split(/[,\s]+/).some(entry => {
    if (entry === '*') return true
    const [, name = entry, onlyPort = ownPort] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? []
    if (onlyPort !== ownPort) return false
    const plain = bareHost(name)
      .replace(/^\*?\./, '')
      .toLowerCase()
    if (plain === '') return false
    if (isIP(host) !== 0) return isIn(host, plain)
    return host === plain || host.endsWith(`.${plain}`)
  })
}

function isIn(host: string, network: string): boolean {
  const [address = '', bits] = network.split('/')
  const family = isIP(address)
  if (family === 0 || !(Number(bits ?? 0) <= (family === 6 ? 128 : 32))) return false
  return blockList([network]).check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
}

/** Accepts `proxy.example.com:3128` as an address too. */
function readProxy(text: string, variable: string): HttpProxy {
  const written = text.includes('://') ? text : `http://${text}`
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError({
      what: `${variable} is not the address of an HTTP proxy`,
      next: 'write it as http://HOST:PORT or http://USER:PASSWORD@HOST:PORT, or name the host in NO_PROXY',
    })
  }
  if (url.username === '') return { url: url.origin, variable }
  const login = `${decoded(url.username)}:${decoded(url.password)}`
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`
  return { url: url.origin, authorization, variable }
}

/** Keeps a percent sign that is not part of an escape. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // URIError.
    return text
  }
}

/** Secrets that no output may show. */
export function proxySecrets({ http, https }: ProxyVariables): readonly string[] {
  return [http, https].flatMap(text => {
    const login = text === undefined ? undefined : /^(?:.*:\/\/)?([^/]*)@/.exec(text)?.[1]
    const password = login?.slice(login.indexOf(':') + 1)
    if (!login?.includes(':') || !password) return []
    return [password, decoded(password), Buffer.from(decoded(login)).toString('base64')]
  })
}
