/** Makes and checks the token for answers. It travels in a header, as addresses end up in histories and logs. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Takes the same time for every wrong token. */
export function hasToken(authorization: string | undefined, token: string | undefined): boolean {
  if (token === undefined) return true
  const [, given = ''] = /^Bearer (\S+)$/.exec(authorization ?? '') ?? []
  return timingSafeEqual(digest(given), digest(token))
}

const thisMachine = ['127.0.0.1', '::1', 'localhost']

export interface DashboardAccess {
  /** Address that the server listens on. */
  readonly host: string
  /** Names that a proxy uses in requests. */
  readonly allowedHosts: readonly string[]
  readonly isTokenAsked: boolean
}

/** Makes a token if other machines can reach the figures or the user asks for one: a sender can forge its Host header. */
export function tokenFor({ host, allowedHosts, isTokenAsked }: DashboardAccess): string | undefined {
  const isOwn = thisMachine.includes(host) && allowedHosts.length === 0
  return isOwn && !isTokenAsked ? undefined : randomBytes(24).toString('base64url')
}
