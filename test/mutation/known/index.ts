import type { Folder } from '../folders.ts'
import type { Known } from '../known.ts'
import { known as apiBudget } from './api-budget.ts'
import { known as apiClient } from './api-client.ts'
import { known as crosscheck } from './crosscheck.ts'
import { known as events } from './events.ts'
import { known as loadMerge } from './load-merge.ts'
import { known as loadRead } from './load-read.ts'
import { known as stateEvidence } from './state-evidence.ts'
import { known as stateScans } from './state-scans.ts'
import { known as storage } from './storage.ts'
import { known as byId } from './sync-by-id.ts'
import { known as deletions } from './sync-deletions.ts'
import { known as paging } from './sync-paging.ts'
import { known as scan } from './sync-scan.ts'
import { known as snapshot } from './sync-snapshot.ts'

export const knownOf: Readonly<Record<Folder, Known>> = {
  'src/sync/paging': paging,
  'src/sync/scan': scan,
  'src/sync/deletions': deletions,
  'src/sync/snapshot': snapshot,
  'src/sync/by-id': byId,
  'src/load/merge': loadMerge,
  'src/load/read': loadRead,
  'src/state/scans': stateScans,
  'src/state/evidence': stateEvidence,
  'src/api/budget': apiBudget,
  'src/api/client': apiClient,
  'src/events': events,
  'src/crosscheck': crosscheck,
}

export const everyStory = Object.values(knownOf).flatMap(({ stories = [] }) => stories)
export const everySlip = [...Object.values(knownOf), storage].flatMap(({ slips = [] }) => slips)
