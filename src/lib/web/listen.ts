/** Starts a web server on its port, or says in one line why it cannot. */
import type { AddressInfo } from 'node:net'
import { Busy, MusterError, UsageError } from '../errors.ts'

export interface Port {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** Names of the options for host and port, if not `--host` and `--port`. */
  readonly flags?: { readonly host: string; readonly port: string }
}

interface WebServer {
  listen(place: { readonly host: string; readonly port: number }): Promise<unknown>
  readonly server: { address(): AddressInfo | string | null }
}

const defaultFlags = { host: '--host', port: '--port' }

function refusalOf(code: string | undefined, { host, port, flags = defaultFlags }: Port): MusterError {
  const where = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  switch (code) {
    case 'EADDRINUSE':
      return new Busy({
        what: `port ${port} is in use by another process`,
        where,
        next: `choose another with ${flags.port}, or any free one with ${flags.port} 0`,
      })
    case 'EACCES':
      return new UsageError({
        what: `this user may not listen on port ${port}`,
        where,
        next: `choose one above 1023 with ${flags.port}, and let a proxy forward ${port} to it`,
      })
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UsageError({
        what: `${host} is not an address of this machine`,
        where,
        next: `choose one with ${flags.host}: 127.0.0.1 for this machine alone, 0.0.0.0 for every network`,
      })
    default:
      return new MusterError({
        what: `the system does not allow listening (${code ?? 'for no known reason'})`,
        where,
        next: `choose another address with ${flags.host} and ${flags.port}`,
      })
  }
}

/** Returns its address, such as `http://127.0.0.1:8080`. Throws Busy, UsageError, MusterError. */
export async function listen(app: WebServer, place: Port): Promise<string> {
  const { host, port } = place
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    // Other failures come from the server itself, before it calls the system.
    if (syscall === undefined) throw error
    throw refusalOf(code, place)
  }
  const { port: taken } = app.server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${taken}`
}
