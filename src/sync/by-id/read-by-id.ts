/** Reads records of one resource by their ids: asked for, landed, loaded in batches, and remembered. */
import { readFileSync } from 'node:fs'
import type { Purpose } from '../../api/budget/day.ts'
import { readEnvelope } from '../../api/client/envelope.ts'
import { edges } from '../../contract/derived/discovery.ts'
import { isSafeId } from '../../contract/fields/record-id.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { hourMs } from '../../lib/dates.ts'
import { discover } from '../../state/by-id/discovered.ts'
import type { DueId } from '../../state/by-id/due.ts'
import { postpone, recordFetches, recordMisses, recordOtherNames } from '../../state/by-id/fetched.ts'
import { learnHints } from '../../state/by-id/hints.ts'
import { witnessHeld } from '../../state/evidence/deletions.ts'
import { freshWindow, openWindow, unfinishedWindow, updateWindow } from '../../state/scans/windows.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { fenced } from '../run/hold-lease.ts'
import { currentScope } from '../run/same-scope.ts'
import { type Answers, askForRecords, type Course, type LandedRecord } from './fetch-by-id.ts'

/** Milliseconds until a record that the service failed on is asked for again. */
const failurePause = hourMs

export class ReadById {
  readonly task: ResourceTask
  readonly #course: Course
  #isOpen = false

  constructor(task: ResourceTask, purpose: Purpose) {
    this.task = task
    const windowId = `${task.sync.runId}-${task.resource.name}`
    this.#course = { windowId, purpose, sequence: 0, hasRead: false, deniedInARow: 0, failedInARow: 0 }
  }

  /** Loads what a killed run landed and did not load: it costs no request. */
  async resume(): Promise<void> {
    const { sync, resource } = this.task
    const window = await unfinishedWindow(sync.engine, resource.name, 'hydrate')
    if (!window) return
    sync.landing.begin(window.window_id, { resource: resource.name, scope: {}, isById: true })
    const landed = sync.landing.pages(window.window_id)
    const left = landed.filter(({ sequence }) => sequence > Number(window.loaded_sequence))
    const records = left.flatMap(page => this.#landedRecord(page))
    if (records.length > 0) await this.#load(window.window_id, { records, misses: [], postponed: [] })
    await fenced(this.task, engine => accept(engine, this.task, window.window_id))
  }

  /** Throws what kept it from asking for all of them, with everything read until then loaded. */
  async read(due: readonly DueId[]): Promise<void> {
    if (!this.#isOpen) await this.#open()
    const answers = await askForRecords(this.task, this.#course, due)
    if (answers.records.length > 0) await this.#load(this.#course.windowId, answers)
    else await fenced(this.task, engine => this.#remember(engine, answers))
    if (answers.stopped) throw answers.stopped.error
  }

  async close(): Promise<void> {
    if (this.#isOpen) await fenced(this.task, engine => accept(engine, this.task, this.#course.windowId))
  }

  async #open(): Promise<void> {
    const { sync, resource } = this.task
    const { windowId } = this.#course
    sync.landing.begin(windowId, { resource: resource.name, scope: {}, isById: true })
    const facts = { window_id: windowId, resource: resource.name, kind: 'hydrate' as const }
    const row = freshWindow({ ...facts, run_id: sync.runId, started_at: now(sync) })
    await fenced(this.task, engine => openWindow(engine, row))
    this.#isOpen = true
  }

  async #load(windowId: string, answers: Answers): Promise<void> {
    const { pipeline } = this.task
    await pipeline.load({
      pages: answers.records.map(({ page }) => page),
      rows: 'data as one record',
      ledger: async engine => {
        await this.#remember(engine, answers)
        const sequence = Math.max(...answers.records.map(({ page }) => page.sequence))
        await updateWindow(engine, windowId, { loaded_sequence: sequence, pages: sequence })
      },
    })
    await pipeline.drained()
  }

  /** Runs in the transaction of the records: what became of each id, and which ids they name. */
  async #remember(engine: Engine, { records, misses, postponed }: Answers): Promise<void> {
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
    await learnHints(engine, resource, { fetches: latest(fetches), at: now(sync) })
    await recordFetches(engine, { resource: resource.name, table: resource.table }, latest(fetches))
    await recordMisses(engine, resource.name, { misses, keyScope: currentScope({ sync }) })
    const gone = misses.filter(({ state }) => state === 'missing')
    await witnessHeld(
      engine,
      resource,
      gone.map(({ recordId, checkedAt }) => ({
        record_id: recordId,
        kind: 'by-id 404' as const,
        source: sync.runId,
        seen_at: checkedAt,
      })),
    )
    const until = new Date(sync.clock.now() + failurePause).toISOString()
    await postpone(engine, resource.name, { ids: postponed, until })
    const named = edges.filter(({ from }) => from === resource.name)
    // Rows carry the run that fetched them, which need not be this one.
    for (const runId of new Set(records.map(({ page }) => page.runId)))
      await discover(engine, { edges: named, at: now(sync), runId })
  }

  /** Empty for a page that is no record: it is asked for again. */
  #landedRecord(page: LandedPage): LandedRecord[] {
    const id = idOn(page)
    if (id === undefined) {
      this.task.sync.landing.forget(page)
      return []
    }
    return [{ page, asked: id, recordId: id, askedAt: page.fetchedAt }]
  }
}

/** A record that was asked for under two names counts once. */
function latest<Item extends { readonly recordId: string }>(fetches: readonly Item[]): Item[] {
  return [...new Map(fetches.map(fetch => [fetch.recordId, fetch])).values()]
}

function idOn(page: LandedPage): string | undefined {
  try {
    const record = readEnvelope(readFileSync(page.file), {}).records() as { id?: unknown } | null
    return typeof record?.id === 'string' && isSafeId(record.id) ? record.id : undefined
  } catch {
    return undefined
  }
}

async function accept(engine: Engine, { sync }: ResourceTask, windowId: string): Promise<void> {
  await updateWindow(engine, windowId, {
    state: 'accepted',
    accepted_at: now(sync),
    next_page: 0,
  })
}
