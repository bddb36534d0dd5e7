/** Checks whether a replay could read the landed pages. */
import type { Landing } from '../../landing/landing.ts'
import { verify } from '../../landing/verify.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Check } from '../../marts/checks/check.ts'
import type { CheckResult } from '../../marts/checks/run.ts'
import { openScanIds } from '../../state/scans/scans.ts'
import type { Engine } from '../../warehouse/engine.ts'

/** Reads files instead of tables. */
export const landedPagesCheck: Check = {
  name: 'landed_pages_readable',
  severity: 'error',
  summary: 'Every landed file is present and unchanged.',
  next: 'restore the file from a backup, or remove its folder and read its records again with muster backfill; muster replay skips it',
  parts: [],
}

const maxSamples = 5

export async function checkLandedPages(
  engine: Engine,
  { landing, clock }: { readonly landing: Landing; readonly clock: Clock },
): Promise<CheckResult> {
  const damaged = await verify(landing, clock.now(), await openScanIds(engine))
  const samples = damaged.slice(0, maxSamples).map(({ scan, what }) => `${scan}: ${what}`)
  const failures = damaged.length === 0 ? [] : [{ subject: 'landing', rows: damaged.length, samples }]
  return { ...landedPagesCheck, parts: 1, failures }
}
