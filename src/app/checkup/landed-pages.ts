/** The check of the landed pages: whether a replay could read them. */
import type { Landing } from '../../landing/folder.ts'
import { damageOf } from '../../landing/kept.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Check } from '../../marts/checks/check.ts'
import type { CheckResult } from '../../marts/checks/run.ts'
import { openScanIds } from '../../state/scans/scans.ts'
import type { Engine } from '../../warehouse/engine.ts'

/** Reads files instead of tables. */
export const landedPagesCheck: Check = {
  name: 'landed_pages_readable',
  severity: 'error',
  summary: 'Every archive of landed pages is as it was written, and no landed page breaks off.',
  next: 'bring the file back from a backup, or remove its folder and read its records again with muster backfill; muster replay leaves it out',
  parts: [],
}

const mostSamples = 5

export async function checkLandedPages(
  engine: Engine,
  { landing, clock }: { readonly landing: Landing; readonly clock: Clock },
): Promise<CheckResult> {
  const damaged = await damageOf(landing, clock.now(), await openScanIds(engine))
  const samples = damaged.slice(0, mostSamples).map(({ scan, what }) => `${scan}: ${what}`)
  const failures = damaged.length === 0 ? [] : [{ subject: 'landing', rows: damaged.length, samples }]
  return { ...landedPagesCheck, parts: 1, failures }
}
