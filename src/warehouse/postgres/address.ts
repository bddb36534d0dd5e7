/** Parses server addresses without connecting. */
import pg from 'pg'

export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly database: string
}

/** Gives sslmode libpq's meaning: `require` only encrypts, `verify-ca` and `verify-full` also check the certificate. */
export function withLibpqTls(url: string): string {
  if (!/[?&]sslmode=/.test(url) || /[?&]uselibpqcompat=/.test(url)) return url
  return `${url}&uselibpqcompat=true`
}

/** Parses as the driver does, with environment variables for missing parts. */
export function serverAddress(url: string): ServerAddress {
  const { host, port, database, user } = new pg.Client({ connectionString: withLibpqTls(url) })
  // A socket folder is on this machine.
  return { host: host.startsWith('/') ? 'localhost' : host, port, database: database ?? user ?? '' }
}
