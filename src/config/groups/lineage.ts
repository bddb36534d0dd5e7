/** The settings of `lineage`: where the events of runs go, in the form of OpenLineage. */
import { resolve } from 'node:path'
import { z } from 'zod'
import type { Secret } from '../secret.ts'
import { readSecret } from '../secret-source.ts'
import { dotted, type Path } from '../source.ts'
import { addressIn, type GroupPlace } from './place.ts'
import { address, whole } from './values.ts'

export const lineage = z
  .strictObject({
    url: address
      .optional()
      .describe(
        'Events of runs are posted here as OpenLineage has them, such as http://HOST/api/v1/lineage.',
      ),
    urlFile: z.string().optional().describe('A file with that address.'),
    token: z
      .string()
      .meta({ pattern: '^file:' })
      .optional()
      .describe('Sent as a bearer token: a variable in braces after a $, or file:NAME.'),
    tokenFile: z.string().optional().describe('A file with the token.'),
    file: z
      .string()
      .min(1, 'must name a file')
      .optional()
      .describe('Events are added to this file, a line each.'),
    namespace: z.string().min(1).default('muster').describe('Namespace of the jobs.'),
    seconds: whole(1, 300).default(5).describe('How long an event may take to be posted.'),
  })
  .describe('Where OpenLineage events of runs go.')

export interface LineageSettings {
  readonly url?: Secret
  readonly token?: Secret
  /** Absolute. */
  readonly file?: string
  readonly namespace: string
  readonly seconds: number
}

export function buildLineage(
  raw: z.infer<typeof lineage>,
  path: Path,
  place: GroupPlace,
): LineageSettings | undefined {
  const url = addressIn(raw, path, place)
  const named = (name: string) => ({ ...place, path: [...path, name], filePath: [...path, `${name}File`] })
  const hasToken = raw.token !== undefined || raw.tokenFile !== undefined
  const token = hasToken ? readSecret(named('token'), raw.token, raw.tokenFile) : undefined
  const { file, namespace, seconds } = raw
  if (raw.url === undefined && raw.urlFile === undefined && file === undefined) {
    place.findings.problem(path, `${dotted(path)} needs url or file`)
    return undefined
  }
  return {
    ...(url && { url }),
    ...(token && { token }),
    ...(file !== undefined && { file: resolve(place.cwd, file) }),
    namespace,
    seconds,
  }
}
