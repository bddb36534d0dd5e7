/** The token that answers may ask for. It travels in a header: an address ends up in histories and logs. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Takes as long for every wrong token. */
export function hasToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined) return true
  const [, given = ''] = /^Bearer (\S+)$/.exec(authorization ?? '') ?? []
  return timingSafeEqual(digest(given), digest(token))
}

const thisMachine = ['127.0.0.1', '::1', 'localhost']

export interface Reach {
  /** Address that the server listens on. */
  readonly host: string
  /** Names that a proxy uses in requests. */
  readonly allowedHosts: readonly string[]
  readonly isTokenAsked: boolean
}

/** A new token where others than this machine can reach the figures, or the user asks for one. A sender chooses its Host. */
export function tokenFor({ host, allowedHosts, isTokenAsked }: Reach): string | undefined {
  const isOwn = thisMachine.includes(host) && allowedHosts.length === 0
  return isOwn && !isTokenAsked ? undefined : randomBytes(24).toString('base64url')
}
