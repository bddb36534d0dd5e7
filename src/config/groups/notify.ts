/** The settings of `notify`: whom to tell how a night ended. */
import { z } from 'zod'
import type { Secret } from '../secret.ts'
import { readSecret } from '../secret-source.ts'
import { dotted, type Path } from '../source.ts'
import { addressIn, type GroupPlace } from './place.ts'
import { address, whole } from './values.ts'

export const notify = z
  .strictObject({
    url: address.optional().describe('A JSON message is posted here when a night failed or is well again.'),
    urlFile: z.string().optional().describe('A file with that address.'),
    token: z
      .string()
      .meta({ pattern: '^file:' })
      .optional()
      .describe('Sent as a bearer token: a variable in braces after a $, or file:NAME.'),
    tokenFile: z.string().optional().describe('A file with the token.'),
    command: z
      .string()
      .min(1, 'must be a command')
      .optional()
      .describe('A command for the shell; it gets the message on stdin and in MUSTER_MESSAGE.'),
    seconds: whole(1, 300).default(10).describe('How long each may take.'),
  })
  .describe('Whom to tell when a night failed, was partial, or is well again.')

export interface NotifySettings {
  readonly url?: Secret
  readonly token?: Secret
  readonly command?: string
  readonly seconds: number
}

export function buildNotify(
  raw: z.infer<typeof notify>,
  path: Path,
  place: GroupPlace,
): NotifySettings | undefined {
  const url = addressIn(raw, path, place)
  const named = (name: string) => ({ ...place, path: [...path, name], filePath: [...path, `${name}File`] })
  const hasToken = raw.token !== undefined || raw.tokenFile !== undefined
  const token = hasToken ? readSecret(named('token'), raw.token, raw.tokenFile) : undefined
  const { command, seconds } = raw
  if (raw.url === undefined && raw.urlFile === undefined && command === undefined) {
    place.findings.problem(path, `${dotted(path)} needs url or command`)
    return undefined
  }
  return { ...(url && { url }), ...(token && { token }), ...(command !== undefined && { command }), seconds }
}
