/** Addresses of servers, read without a connection. */
import pg from 'pg'

export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly database: string
}

/** libpq's meaning of sslmode: `require` encrypts, `verify-ca` and `verify-full` check as well. */
export function withLibpqTls(url: string): string {
  if (!/[?&]sslmode=/.test(url) || /[?&]uselibpqcompat=/.test(url)) return url
  return `${url}&uselibpqcompat=true`
}

/** As the driver reads it, with the variables from which it takes what the address leaves out. */
export function serverAddress(url: string): ServerAddress {
  const { host, port, database, user } = new pg.Client({ connectionString: withLibpqTls(url) })
  // A folder of sockets is on this machine.
  return { host: host.startsWith('/') ? 'localhost' : host, port, database: database ?? user ?? '' }
}
