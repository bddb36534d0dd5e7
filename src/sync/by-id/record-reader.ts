/** Reads records of one resource by id: fetches and lands them, loads them in batches, and records each result. */
import type { Purpose } from '../../api/budget/day.ts'
import { readEnvelope } from '../../api/client/envelope.ts'
import { RetriableError } from '../../api/client/errors.ts'
import { edges } from '../../contract/derived/discovery.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import type { LandedPage } from '../../landing/landing.ts'
import { hourMs } from '../../lib/dates.ts'
import { pageBytes } from '../../lib/stored-page.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import { discover, FetchedPages } from '../../state/by-id/discovered.ts'
import type { DueId } from '../../state/by-id/due.ts'
import {
  recordFailedFetches,
  recordFetches,
  recordOtherNames,
  retryLater,
} from '../../state/by-id/fetched.ts'
import { countSignals } from '../../state/by-id/signal-counts.ts'
import { recordEvidenceOfStored } from '../../state/evidence/evidence.ts'
import { closeVanished } from '../../state/evidence/quarantine.ts'
import { freshScan, openScan, unfinishedScan, updateScan } from '../../state/scans/scans.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { currentScope } from '../run/key.ts'
import { fenced } from '../run/renew-lease.ts'
import { type FetchResult, type FetchState, fetchRecords, type LandedRecord } from './fetch.ts'

/** Wait before fetching a record again after the service failed. */
const failurePauseMs = hourMs

export class RecordReader {
  readonly task: ResourceTask
  readonly #state: FetchState
  #isOpen = false

  constructor(task: ResourceTask, purpose: Purpose) {
    this.task = task
    const scanId = `${task.sync.runId}-${task.resource.name}`
    this.#state = { scanId, purpose, sequence: 0, hasRead: false, deniedInARow: 0, failedInARow: 0 }
  }

  /** Loads responses that a killed run landed but did not load, without a request. */
  async resume(): Promise<void> {
    const { sync, resource } = this.task
    const scan = await unfinishedScan(sync.engine, resource.name, 'by id')
    if (!scan) return
    await sync.landing.begin(scan.scan_id, { resource: resource.name, scope: {}, isById: true })
    const landed = await sync.landing.pages(scan.scan_id)
    const left = landed.filter(({ sequence }) => sequence > Number(scan.loaded_sequence))
    const records: LandedRecord[] = []
    for (const page of left) records.push(...(await this.#landedRecord(page)))
    await this.#load(scan.scan_id, { ...nothing, records }, async () => nothing)
    await fenced(this.task, engine => accept(engine, this.task, scan.scan_id))
  }

  /** Throws the error that ended it early, after everything fetched until then is loaded. */
  async read(due: readonly DueId[]): Promise<void> {
    if (!this.#isOpen) await this.#open()
    const fetched = await fetchRecords(this.task, this.#state, due)
    const again = (due: readonly DueId[]) => fetchRecords(this.task, this.#state, due)
    await this.#load(this.#state.scanId, fetched, again)
    if (fetched.stopped) throw fetched.stopped.error
  }

  async close(): Promise<void> {
    if (this.#isOpen) await fenced(this.task, engine => accept(engine, this.task, this.#state.scanId))
  }

  async #open(): Promise<void> {
    const { sync, resource } = this.task
    const { scanId } = this.#state
    await sync.landing.begin(scanId, { resource: resource.name, scope: {}, isById: true })
    const facts = { scan_id: scanId, resource: resource.name, kind: 'by id' as const }
    const row = freshScan({ ...facts, run_id: sync.runId, started_at: now(sync) })
    await fenced(this.task, engine => openScan(engine, row))
    this.#isOpen = true
  }

  /** Fetches records that cannot be loaded once more; those that still cannot be loaded go to quarantine. */
  async #load(
    scanId: string,
    fetched: FetchResult,
    again: (due: readonly DueId[]) => Promise<FetchResult>,
  ): Promise<void> {
    const { readAgain } = this.task.pipeline
    try {
      await this.#loadOnce(scanId, fetched)
    } catch (error) {
      if (!(error instanceof PageUnreadable) || !readAgain.add(error.pages)) throw error
      const isBad = ({ page }: LandedRecord): boolean => error.pages.some(({ file }) => file === page.file)
      const bad = fetched.records.filter(isBad)
      for (const { page } of bad) await this.task.sync.landing.forget(page)
      const { records, failed, retryLater, stopped } = await again(
        bad.map(({ asked }) => ({ record_id: asked, state: 'stored', failures: 0 })),
      )
      const good = fetched.records.filter(one => !isBad(one))
      await this.#loadOnce(scanId, {
        records: [...good, ...records],
        failed: [...fetched.failed, ...failed],
        retryLater: [...fetched.retryLater, ...retryLater],
      })
      if (stopped) throw stopped.error
    }
  }

  async #loadOnce(scanId: string, fetched: FetchResult): Promise<void> {
    if (fetched.records.length === 0) return fenced(this.task, engine => this.#record(engine, fetched))
    const { pipeline } = this.task
    await pipeline.load({
      pages: fetched.records.map(({ page }) => page),
      rows: 'data as one record',
      writeScan: async engine => {
        await this.#record(engine, fetched)
        const sequence = Math.max(...fetched.records.map(({ page }) => page.sequence))
        await updateScan(engine, scanId, { loaded_sequence: sequence, pages: sequence })
      },
    })
    await pipeline.drained()
  }

  /**
   * Records the result of each fetch, and the ids that the records refer to, in the transaction that loads the records.
   */
  async #record(engine: Engine, { records, failed, retryLater: unanswered }: FetchResult): Promise<void> {
    const { sync, resource } = this.task
    const renamed = records.filter(({ asked, recordId }) => asked !== recordId)
    await recordOtherNames(
      engine,
      resource.name,
      renamed.map(({ asked, recordId, page }) => ({ asked, recordId, at: page.fetchedAt })),
    )
    const fetches = records.map(({ page, ...rest }) => ({
      ...rest,
      fetchedAt: page.fetchedAt,
      runId: page.runId,
    }))
    await countSignals(engine, resource, { fetches: latest(fetches), at: now(sync) })
    await recordFetches(engine, { resource: resource.name, table: resource.table }, latest(fetches))
    const scopeId = currentScope({ sync })
    await recordFailedFetches(engine, resource.name, { failed, keyScope: scopeId })
    const missing = failed.filter(({ state }) => state === 'missing')
    await recordEvidenceOfStored(
      engine,
      resource,
      missing.map(({ recordId, checkedAt }) => ({
        record_id: recordId,
        kind: 'by-id 404' as const,
        source: sync.runId,
        seen_at: checkedAt,
      })),
    )
    const ids = missing.map(({ recordId }) => recordId)
    await closeVanished(engine, { resource: resource.name, ids, scopeId, at: now(sync) })
    const until = new Date(sync.clock.now() + failurePauseMs).toISOString()
    await retryLater(engine, resource.name, { ids: unanswered, until })
    await sync.events.record(engine)
    const named = edges[sync.key.kind].filter(({ from }) => from === resource.name)
    const fetched = new FetchedPages()
    for (const { page } of records) fetched.add(page)
    await discover(engine, { edges: named, at: now(sync), fetched })
  }

  /** Empty if the page is not a record: its id is fetched again. */
  async #landedRecord(page: LandedPage): Promise<LandedRecord[]> {
    const id = idOn(page)
    if (id === undefined) {
      await this.task.sync.landing.forget(page)
      return []
    }
    return [{ page, asked: id, recordId: id, askedAt: page.fetchedAt }]
  }
}

/** Ids that are not fetched now stay due. */
const nothing: FetchResult = { records: [], failed: [], retryLater: [] }

/** Counts a record fetched under two names once. */
function latest<Item extends { readonly recordId: string }>(fetches: readonly Item[]): Item[] {
  return [...new Map(fetches.map(fetch => [fetch.recordId, fetch])).values()]
}

function idOn(page: LandedPage): string | undefined {
  try {
    const record = readEnvelope(pageBytes(page), {}).records() as { id?: unknown }
    return typeof record.id === 'string' && isSafeId(record.id) ? record.id : undefined
  } catch (error) {
    // The run was killed while it wrote the page.
    if (error instanceof RetriableError) return undefined
    throw error
  }
}

async function accept(engine: Engine, { sync }: ResourceTask, scanId: string): Promise<void> {
  await updateScan(engine, scanId, {
    state: 'accepted',
    accepted_at: now(sync),
    next_page: 0,
  })
}
