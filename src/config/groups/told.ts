/** The settings of what others are told: how nights ended, and the lineage of runs. */
import type * as z from 'zod'
import type { Path } from '../source.ts'
import { buildLineage, type LineageSettings, type lineage } from './lineage.ts'
import { buildNotify, type NotifySettings, type notify } from './notify.ts'
import type { GroupPlace } from './place.ts'

export interface ToldSettings {
  /** Whom to tell how a night ended. */
  readonly notify?: NotifySettings
  /** Where OpenLineage events of runs go. */
  readonly lineage?: LineageSettings
}

interface RawTold {
  readonly notify?: z.infer<typeof notify> | undefined
  readonly lineage?: z.infer<typeof lineage> | undefined
}

export function buildTold(raw: RawTold, path: Path, place: GroupPlace): ToldSettings {
  const night = raw.notify && buildNotify(raw.notify, [...path, 'notify'], place)
  const runs = raw.lineage && buildLineage(raw.lineage, [...path, 'lineage'], place)
  return { ...(night && { notify: night }), ...(runs && { lineage: runs }) }
}
