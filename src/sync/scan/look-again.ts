/** Looks for quarantined records of a list that were mended at the source without a new time of change. */
import { pageLimit } from '../../api/client/paging.ts'
import { utcDay } from '../../lib/dates.ts'
import { nextDayLook, recordLook } from '../../state/evidence/quarantine-looks.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { byUpdate, daysQuery, scanOf } from './collection-window.ts'

/** The zone and the inclusivity of the day filter are unknown. */
const slackDays = 1

/** One request a day: a page of the records created around the day of one that is in quarantine. */
export async function lookAgain(task: ResourceTask): Promise<void> {
  const { sync, resource, counters, pipeline } = task
  const question = { resource: resource.name, now: sync.clock.now(), runId: sync.runId }
  const look = await nextDayLook(sync.engine, { ...question, pageSize: pageLimit })
  if (!look) return
  const { place, page } = look
  const isDated = place !== '' && scanOf(task).createdBetween !== undefined
  const days = isDated
    ? { from: utcDay(place, -slackDays), to: utcDay(place, slackDays) }
    : { from: null, to: null }
  const query = { ...resource.query, ...byUpdate, ...daysQuery(task, days), page, limit: pageLimit }
  const { bytes, fetchedAt, meta } = await sync.client.getPage(resource.path, query)
  counters.requests += 1
  const scanId = `${sync.runId}-quarantine-${resource.name}`
  await sync.landing.begin(scanId, { resource: resource.name, scope: {} })
  const arrived = { sequence: 1, page, fetchedAt, runId: sync.runId, bytes }
  const landed = await sync.landing.land(scanId, arrived)
  // What still cannot be loaded stays in quarantine.
  pipeline.readAgain.add([landed])
  const row = { resource: resource.name, looked_at: now(sync), place, page, total: meta.total }
  await pipeline.load({ pages: [landed], rows: 'data', ledger: engine => recordLook(engine, row) })
  await pipeline.drained()
}
