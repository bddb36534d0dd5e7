/** Declares and builds the settings of a receiver: an address, which may be secret, and a token. */
import * as z from 'zod'
import { isLoopback } from '../lib/web/address-kind.ts'
import { readSecret, Secret, type SettingsFindings } from './secrets.ts'
import { dotted, type SettingsPath, type SettingsSource } from './source.ts'
import { address, isHttp } from './values.ts'

export interface GroupContext {
  readonly source: SettingsSource
  readonly cwd: string
  readonly findings: SettingsFindings
}

/** The settings of a receiver; `posted` describes its address. */
export const receiver = (posted: string) => ({
  url: address.optional().describe(posted),
  urlFile: z.string().optional().describe('A file with that address.'),
  token: z
    .string()
    .meta({ pattern: '^file:' })
    .optional()
    .describe('Sent as a bearer token: a variable in braces after a $, or file:NAME.'),
  tokenFile: z.string().optional().describe('A file with the token.'),
})

type RawReceiver = { readonly [name in keyof ReturnType<typeof receiver>]?: string | undefined }

export interface ReceiverSettings {
  /** Always secret, because the addresses of chat services are. */
  readonly url?: Secret
  readonly token?: Secret
}

function addressIn(
  { url, urlFile }: RawReceiver,
  path: SettingsPath,
  place: GroupContext,
): Secret | undefined {
  const at = { ...place, path: [...path, 'url'], filePath: [...path, 'urlFile'] }
  if (urlFile === undefined) return url === undefined ? undefined : new Secret(url)
  const read = readSecret(at, url, urlFile)
  if (!read || isHttp(read.reveal())) return read
  place.findings.problem(at.filePath, `${dotted(at.filePath)} names a file without an address`)
  return undefined
}

function tokenIn(
  { token, tokenFile }: RawReceiver,
  path: SettingsPath,
  place: GroupContext,
): Secret | undefined {
  if (token === undefined && tokenFile === undefined) return undefined
  return readSecret(
    { ...place, path: [...path, 'token'], filePath: [...path, 'tokenFile'] },
    token,
    tokenFile,
  )
}

/** Over plain http, others could read the token and send messages with it. */
function requireSafe({ url, token }: ReceiverSettings, path: SettingsPath, { findings }: GroupContext): void {
  const { protocol, hostname, username, password } = new URL(url?.reveal() ?? 'https://none')
  const at = [...path, 'url']
  if (username !== '' || password !== '')
    findings.problem(at, `${dotted(at)} carries credentials: write them to ${dotted([...path, 'token'])}`)
  else if (token && protocol === 'http:' && !isLoopback(hostname))
    findings.problem(at, `${dotted(at)} is http, and its token would be readable on the way: use https`)
}

/** Reports a problem and returns undefined if neither an address nor one of the settings `others` is given. */
export function receiverIn(
  raw: RawReceiver & { readonly [name: string]: unknown },
  others: readonly string[],
  { path, place }: { readonly path: SettingsPath; readonly place: GroupContext },
): ReceiverSettings | undefined {
  const [url, token] = [addressIn(raw, path, place), tokenIn(raw, path, place)]
  if (raw.url === undefined && raw.urlFile === undefined && others.every(name => raw[name] === undefined)) {
    place.findings.problem(path, `${dotted(path)} needs ${['url', ...others].join(' or ')}`)
    return undefined
  }
  const found = { ...(url && { url }), ...(token && { token }) }
  requireSafe(found, path, place)
  return found
}
