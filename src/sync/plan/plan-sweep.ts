/** Estimates the cost of a sweep from stored rows and the last counts: the plan itself sends no request. */
import type { KeyInfo } from '../../api/client/key.ts'
import { lastPage } from '../../api/client/paging.ts'
import { cannotRead, singleRead } from '../../contract/fields/resource.ts'
import { counted, formatNumber } from '../../lib/counted.ts'
import { type Absence, absences, countLive, isNewerCount } from '../../state/evidence/absence.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { swept } from '../deletions/sweep-run.ts'
import { pagesPerWindow } from '../scan/windows.ts'
import type { Estimate } from './estimate.ts'
import type { PlannedResource } from './plan.ts'

/** A page of a sweep has as many rows as one of a sync, so a sweep costs as many requests as reading the list again. */
export function sweepEstimate(rows: number, candidates: number, isReadById: boolean): Estimate {
  const pages = lastPage(rows)
  const windows = Math.ceil(pages / pagesPerWindow)
  const fetched = isReadById && candidates > 0 ? candidates + 2 : 0
  // A window of a single page is read twice. With several windows, one request each returns the total first.
  const low = (pages === 1 ? 2 : pages) + (windows > 1 ? windows + 1 : 0) + 1 + fetched
  const byId = fetched > 0 ? `, ${counted(candidates, 'candidate')} to fetch by id` : ''
  return {
    low,
    // Windows overlap, and a list that changes during the sweep is swept again.
    high: Math.ceil(low * 1.5) + 1,
    reasoning: `${counted(pages, 'page')} of ids in ${counted(windows, 'window')}, and one request for the scope of the key${byId}`,
  }
}

const skipped = (resource: string, why: string): PlannedResource => ({
  resource,
  strategy: 'skipped',
  watermark: null,
  total: null,
  low: 0,
  high: 0,
  reasoning: why,
})

/** Whether the last count is a reason to sweep now, in words. */
function urgency(absence: Absence): string {
  const { total, stored } = absence
  if (total === null || stored === null || !isNewerCount(absence)) return ''
  if (total === stored) return '; the last count matched'
  return `; the last count was ${formatNumber(total)} at the service, ${formatNumber(stored)} stored`
}

export interface SweepPlanSources {
  readonly engine: Engine | undefined
  readonly key: Pick<KeyInfo, 'kind'>
}

/** Plans the lists with these names, or all lists if there are none. */
export async function planSweep(
  names: readonly string[],
  { engine, key }: SweepPlanSources,
): Promise<PlannedResource[]> {
  const known = new Map(engine ? (await absences(engine)).map(one => [one.resource, one]) : [])
  const planned: PlannedResource[] = []
  for (const resource of swept) {
    const { name } = resource
    if (resource.read.strategy !== 'scan' || (names.length > 0 && !names.includes(name))) continue
    const rows = engine && (await countLive(engine, resource))
    if (resource.keys[key.kind] !== 'list') planned.push(skipped(name, cannotRead(resource, key.kind)))
    else if (!rows) planned.push(skipped(name, 'nothing is stored to compare with: run muster sync first'))
    else {
      const absence = known.get(name)
      const { reasoning, ...range } = sweepEstimate(
        rows,
        absence?.candidates ?? 0,
        singleRead(resource) !== undefined,
      )
      const why = reasoning + (absence ? urgency(absence) : '')
      planned.push({
        resource: name,
        strategy: 'sweep',
        watermark: null,
        total: rows,
        ...range,
        reasoning: why,
      })
    }
  }
  return planned
}
