/** What building a group of settings needs, and where messages are posted: an address, which may be secret, and a token. */
import * as z from 'zod'
import { isLoopback } from '../../lib/web/address-kind.ts'
import { Secret } from '../secret.ts'
import { type Findings, readSecret } from '../secret-source.ts'
import { dotted, type Path, type Source } from '../source.ts'
import { address, isHttp } from './values.ts'

export interface GroupPlace {
  readonly source: Source
  readonly cwd: string
  readonly findings: Findings
}

/** The settings of a receiver, whose address is told as `posted`. */
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

type Given = { readonly [name in keyof ReturnType<typeof receiver>]?: string | undefined }

export interface Receiver {
  /** Secret in any case, as the addresses of chat services are. */
  readonly url?: Secret
  readonly token?: Secret
}

function addressIn({ url, urlFile }: Given, path: Path, place: GroupPlace): Secret | undefined {
  const at = { ...place, path: [...path, 'url'], filePath: [...path, 'urlFile'] }
  if (urlFile === undefined) return url === undefined ? undefined : new Secret(url)
  const read = readSecret(at, url, urlFile)
  if (!read || isHttp(read.reveal())) return read
  place.findings.problem(at.filePath, `${dotted(at.filePath)} names a file without an address`)
  return undefined
}

function tokenIn({ token, tokenFile }: Given, path: Path, place: GroupPlace): Secret | undefined {
  if (token === undefined && tokenFile === undefined) return undefined
  return readSecret(
    { ...place, path: [...path, 'token'], filePath: [...path, 'tokenFile'] },
    token,
    tokenFile,
  )
}

/** Who can read the connection could read the token, and send messages in its place. */
function requireSafe({ url, token }: Receiver, path: Path, { findings }: GroupPlace): void {
  const { protocol, hostname, username, password } = new URL(url?.reveal() ?? 'https://none')
  const at = [...path, 'url']
  if (username !== '' || password !== '')
    findings.problem(at, `${dotted(at)} carries credentials: write them to ${dotted([...path, 'token'])}`)
  else if (token && protocol === 'http:' && !isLoopback(hostname))
    findings.problem(at, `${dotted(at)} is http, and its token would be readable on the way: use https`)
}

/** Undefined with a problem where neither an address nor `other`, the setting beside it, is given. */
export function receiverIn(
  raw: Given & { readonly [name: string]: unknown },
  other: string,
  { path, place }: { readonly path: Path; readonly place: GroupPlace },
): Receiver | undefined {
  const [url, token] = [addressIn(raw, path, place), tokenIn(raw, path, place)]
  if (raw.url === undefined && raw.urlFile === undefined && raw[other] === undefined) {
    place.findings.problem(path, `${dotted(path)} needs url or ${other}`)
    return undefined
  }
  const found = { ...(url && { url }), ...(token && { token }) }
  requireSafe(found, path, place)
  return found
}
