/** Bytes over a bare socket, and the statuses that come back: what no client library would send. */
import { connect } from 'node:net'
import type { Signed } from './served.ts'

export interface RawAnswer {
  /** Of every answer on the connection, in order. */
  readonly statuses: readonly number[]
  readonly text: string
  /** Whether the server closed the connection. */
  readonly isClosed: boolean
}

export interface RawOptions {
  /** Written bit by bit, this long apart. */
  readonly everyMs?: number
  /** How long more answers are waited for, after each; without it the first ends it. */
  readonly lingerMs?: number
}

export function sendRaw(
  url: string,
  parts: readonly (string | Buffer)[],
  options: RawOptions = {},
): Promise<RawAnswer> {
  const { everyMs = 0, lingerMs } = options
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const chunks: Buffer[] = []
    let timer: NodeJS.Timeout | undefined
    const end = (isClosed: boolean): void => {
      clearTimeout(timer)
      socket.destroy()
      const text = Buffer.concat(chunks).toString('latin1')
      const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(match => Number(match[1]))
      resolve({ statuses, text, isClosed })
    }
    socket.on('data', chunk => {
      chunks.push(chunk)
      clearTimeout(timer)
      if (lingerMs !== undefined) timer = setTimeout(() => end(false), lingerMs)
      else if (String(chunk).includes('\r\n\r\n')) end(false)
    })
    socket.on('close', () => end(true))
    socket.on('error', error => (chunks.length > 0 || 'code' in error ? end(true) : reject(error)))
    socket.on('connect', async () => {
      for (const part of parts) {
        if (socket.destroyed) return
        socket.write(part)
        if (everyMs > 0) await new Promise(done => setTimeout(done, everyMs))
      }
    })
  })
}

/** One whole POST; `extra` are more header lines, `drop` names those to leave out. */
export function rawPost(
  url: string,
  { body, headers }: Signed,
  { extra = [], drop = [] }: { readonly extra?: readonly string[]; readonly drop?: readonly string[] } = {},
): Buffer {
  const { pathname, host } = new URL(url)
  const all: Record<string, string> = { Host: host, ...headers, 'Content-Length': String(body.length) }
  const lines = Object.entries(all)
    .filter(([name]) => !drop.includes(name))
    .map(([name, value]) => `${name}: ${value}`)
  const head = [`POST ${pathname} HTTP/1.1`, ...lines, ...extra].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body])
}
