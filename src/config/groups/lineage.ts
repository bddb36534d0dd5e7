/** The settings of `lineage`: where the events of runs go, in the form of OpenLineage. */

import { resolve } from 'node:path'
import * as z from 'zod'
import { whyNotLocal } from '../../lib/input-file.ts'
import { dotted, type Path } from '../source.ts'
import { type GroupPlace, type Receiver, receiver, receiverIn } from './place.ts'
import { whole } from './values.ts'

export const lineage = z
  .strictObject({
    ...receiver(
      'Events of runs are posted here as OpenLineage has them, such as http://HOST/api/v1/lineage.',
    ),
    file: z
      .string()
      .min(1, 'must name a file')
      .optional()
      .describe('Events are added to this file, a line each.'),
    namespace: z.string().min(1).default('muster').describe('Namespace of the jobs.'),
    seconds: whole(1, 300).default(5).describe('How long an event may take to be posted.'),
  })
  .describe('Where OpenLineage events of runs go.')

export interface LineageSettings extends Receiver {
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
  const why = raw.file === undefined ? undefined : whyNotLocal(raw.file)
  if (why !== undefined) place.findings.problem([...path, 'file'], `${dotted([...path, 'file'])}: ${why}`)
  const posted = receiverIn(raw, 'file', { path, place })
  const { file, namespace, seconds } = raw
  const found = file === undefined ? {} : { file: resolve(place.cwd, file) }
  return posted && { ...posted, ...found, namespace, seconds }
}
