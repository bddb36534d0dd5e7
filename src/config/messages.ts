/** Declares the settings of outgoing messages: lineage of runs (`lineage`); notifications (`notify`) have a file of their own. */

import { resolve } from 'node:path'
import * as z from 'zod'
import { whyNotLocal } from '../lib/input-file.ts'
import { buildNotify, type NotifySettings, type notify } from './notify.ts'
import { type GroupContext, type ReceiverSettings, receiver, receiverIn } from './receiver.ts'
import { dotted, type SettingsPath } from './source.ts'
import { integer } from './values.ts'

export const lineage = z
  .strictObject({
    ...receiver('Address that receives OpenLineage events of runs, such as http://HOST/api/v1/lineage.'),
    file: z
      .string()
      .min(1, 'must name a file')
      .optional()
      .describe('Events are appended to this file, one on each line.'),
    namespace: z.string().min(1).default('muster').describe('Namespace of the jobs.'),
    seconds: integer(1, 300).default(5).describe('Seconds that posting an event may take.'),
  })
  .describe('Where OpenLineage events of runs go.')

export interface LineageSettings extends ReceiverSettings {
  /** Absolute. */
  readonly file?: string
  readonly namespace: string
  readonly seconds: number
}

function buildLineage(
  raw: z.infer<typeof lineage>,
  path: SettingsPath,
  place: GroupContext,
): LineageSettings | undefined {
  const why = raw.file === undefined ? undefined : whyNotLocal(raw.file)
  if (why !== undefined) place.findings.problem([...path, 'file'], `${dotted([...path, 'file'])}: ${why}`)
  const posted = receiverIn(raw, ['file'], { path, place })
  const { file, namespace, seconds } = raw
  const found = file === undefined ? {} : { file: resolve(place.cwd, file) }
  return posted && { ...posted, ...found, namespace, seconds }
}

export interface NotificationSettings {
  /** Whom to notify, and of what. */
  readonly notify?: NotifySettings
  /** Where OpenLineage events of runs go. */
  readonly lineage?: LineageSettings
}

interface RawNotification {
  readonly notify?: z.infer<typeof notify> | undefined
  readonly lineage?: z.infer<typeof lineage> | undefined
}

export function buildNotifications(
  raw: RawNotification,
  path: SettingsPath,
  place: GroupContext,
): NotificationSettings {
  const notifySettings = raw.notify && buildNotify(raw.notify, [...path, 'notify'], place)
  const runs = raw.lineage && buildLineage(raw.lineage, [...path, 'lineage'], place)
  return { ...(notifySettings && { notify: notifySettings }), ...(runs && { lineage: runs }) }
}
