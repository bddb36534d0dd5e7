/** Reads one scope of a snapshot whole, or not at all. */
import type { Resource, Snapshot } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { MusterError } from '../../lib/errors.ts'
import { recordTexts } from '../../load/page/stand-ins.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import { lastReadTotal } from '../../state/scans/scans.ts'
import { limitOf, sizeOf, snapshotPlan } from '../paging/pass-plan.ts'
import { beginPass, type PassRules, seenIn } from '../paging/pass-state.ts'
import {
  type Decision,
  hiddenRows,
  isLikely,
  judge,
  mostPasses,
  provedForward,
  seenAndExpected,
} from '../paging/proof.ts'
import { anotherPass, type Progress, type ScannedPage, type Strategy, scan } from '../paging/scan.ts'
import { SeenRows } from '../paging/seen-rows.ts'
import { mostHollow } from '../paging/shown.ts'
import { now, type ResourceTask } from '../run/context.ts'
import { Incomplete } from '../run/incomplete.ts'
import { hasId, namesOf } from './row-names.ts'
import type { Scope } from './scopes.ts'
import { type AskedPage, isOnePass, wholePages } from './whole-pages.ts'

export interface Reading {
  readonly pages: readonly LandedPage[]
  /** Rows that the service claims. */
  readonly total: number
  /** Those of them that it shows on no page. */
  readonly hidden: number
  /** False for several pages that were read once: the list may have changed between them. */
  readonly isProved: boolean
  /** Where another pass goes on. */
  readonly progress?: Progress
  readonly seen?: SeenRows
  readonly asked?: readonly AskedPage[]
}

interface SnapshotPage extends ScannedPage {
  readonly landed: LandedPage
  readonly names: readonly string[]
}

interface ScopeScan {
  readonly scope: Scope
  readonly scanId: string
}

/** A scope whose pages are landed. */
export interface ReadScope extends ScopeScan {
  readonly reading: Reading
}

function pathOf(task: ResourceTask, scope: Scope): string {
  return task.resource.path.replace('{company}', encodeURIComponent(scope.company ?? ''))
}

/** Rows in a single object. An answer without its list is no empty list: it would remove every row of the scope. */
function rowsIn(task: ResourceTask, scope: Scope, record: Record<string, unknown>): number {
  if ((task.resource.read as Snapshot).rows !== 'data.entries') return 1
  if (Array.isArray(record.entries)) return record.entries.length
  throw new MusterError({
    what: 'bad answer: data.entries is not a list',
    where: `GET ${pathOf(task, scope)}`,
    next: 'the last complete snapshot stays; run again, and tell the service about it if it stays',
  })
}

async function readObject(task: ResourceTask, { scope, scanId }: ScopeScan): Promise<Reading> {
  const { sync, resource, counters } = task
  const query = { ...resource.query, ...scope.query }
  const { record, bytes, fetchedAt } = await sync.client.getRecord(pathOf(task, scope), query)
  const total = rowsIn(task, scope, record)
  counters.requests += 1
  const arrived = { sequence: 1, page: 1, fetchedAt, runId: sync.runId, bytes }
  return { pages: [await sync.landing.land(scanId, arrived)], total, hidden: 0, isProved: true }
}

/** The order that a pass asks for. */
function orderOf({ read }: Resource, attempt: number): Readonly<Record<string, string>> {
  const { orders = [] } = read as Snapshot
  return orders[(attempt - 1) % Math.max(1, orders.length)] ?? {}
}

/** A list without a change time: its rows count when they are on the first page, or were seen before and after it. */
class SnapshotScan implements Strategy<SnapshotPage> {
  readonly #task: ResourceTask
  readonly #at: ScopeScan
  readonly #seen: SeenRows
  /** Whether one pass of several pages will do, when the load neither adds nor removes a row. */
  readonly #mayBeUnproved: boolean
  readonly #pages: AskedPage[]
  #hasIds = true
  /** Rows that the passes lacked. */
  readonly #lacks: number[] = []
  reading: Reading = { pages: [], total: 0, hidden: 0, isProved: false }
  figures = { seen: 0, expected: 0 }

  constructor(task: ResourceTask, at: ScopeScan, before?: Reading) {
    this.#task = task
    this.#at = at
    this.#seen = before?.seen ?? new SeenRows()
    this.#pages = [...(before?.asked ?? [])]
    this.#mayBeUnproved = before === undefined
  }

  rules({ attempt, pass }: Progress): PassRules & { readonly size: number } {
    return { order: 'first to last', size: sizeOf(limitOf(snapshotPlan(attempt), pass), pass) }
  }

  /** One that is empty for the first time is asked for once more: a slip would leave out all of its rows. */
  async ask(page: number, progress: Progress): Promise<SnapshotPage> {
    const answer = await this.#fetch(page, progress)
    const isEmpty = answer.empty && answer.total === 0 && page === 1 && this.#pages.length === 0
    if (!isEmpty || (await this.#wasEmpty())) return answer
    await this.#task.sync.landing.forget(answer.landed)
    return this.#fetch(page, progress)
  }

  async #wasEmpty(): Promise<boolean> {
    const { sync, resource } = this.#task
    return (await lastReadTotal(sync.engine, resource.name, this.#at.scope.name)) === 0
  }

  async #fetch(page: number, { sequence, attempt, pass }: Progress): Promise<SnapshotPage> {
    const { sync, resource, counters } = this.#task
    const { scope, scanId } = this.#at
    const limit = limitOf(snapshotPlan(attempt), pass)
    const query = { ...resource.query, ...scope.query, ...orderOf(resource, attempt), page, limit }
    const mayBeHollow = pass.hollow < mostHollow
    const answer = await sync.client.getPage(pathOf(this.#task, scope), query, { mayBeHollow })
    counters.requests += 1
    const { fetchedAt, bytes, meta } = answer
    const arrived = { sequence: sequence + 1, page, fetchedAt, runId: sync.runId, bytes }
    const landed = await sync.landing.land(scanId, arrived)
    const records = answer.records()
    const names = namesOf(records, recordTexts(bytes))
    this.#hasIds &&= records.every(hasId)
    return {
      page,
      total: meta.total,
      limit: meta.limit,
      empty: names.length === 0,
      rows: names.length,
      landed,
      names,
    }
  }

  async keep({ landed, names, total }: SnapshotPage, { pass }: Progress): Promise<void> {
    const seen = seenIn(pass)
    this.#pages.push({ pass: seen.pass, landed, names, total })
    for (const name of names) this.#seen.add(name, seen)
  }

  /** A snapshot that was cut off begins anew in the next run. */
  async save(): Promise<void> {}

  get passes(): number {
    return this.#lacks.length
  }

  async decide(progress: Progress): Promise<Decision> {
    const { bases, attempt, pass } = progress
    const counted = bases.map(base => this.#seen.count(base))
    const seen = this.#seen.figures(pass.number)
    const hidden = hiddenRows(pass, { attempt, ...seen, known: undefined })
    const { said: claimed, isCapped } = pass
    const figures = { attempt, bases, counted, ids: seen.ids, claimed, excluded: hidden, hidden, isCapped }
    const proved = provedForward(figures, { ...pass, ...seen })
    this.figures = seenAndExpected(figures)
    const { base } = pass
    const isClean = base !== undefined && isLikely(base, seen.ids) && seen.inLastPass === base.total - hidden
    this.#lacks.push(this.figures.expected - this.figures.seen)
    if (!proved && !(this.#mayBeUnproved && isClean)) return judge(figures, proved, this.#lacks)
    // Rows without ids that other passes have shown may have changed since: those that count are the list of the proved moment.
    const isOfMoment = proved !== undefined && hidden === 0 && !this.#hasIds && !isClean
    if (!this.#hasIds && !isClean && !isOfMoment) return attempt < mostPasses ? 'scan again' : 'refused'
    const since = proved && (this.#hasIds || isOfMoment) ? proved.pass : pass.number
    const pages = this.#pages.filter(one => one.pass >= since)
    const put = await this.#put(progress, pages, name => !isOfMoment || this.#seen.has(name, proved))
    this.reading = {
      pages: put,
      total: proved?.total ?? this.figures.expected + hidden,
      hidden,
      isProved: proved !== undefined,
      progress: { ...progress, sequence: Math.max(progress.sequence, ...put.map(page => page.sequence)) },
      seen: this.#seen,
      asked: this.#pages,
    }
    return 'accepted'
  }

  /** The pages as they came, or landed anew as one pass. */
  async #put(
    { sequence }: Progress,
    pages: readonly AskedPage[],
    doesCount: (name: string) => boolean,
  ): Promise<LandedPage[]> {
    if (isOnePass(this.#pages, pages, doesCount)) return pages.map(({ landed }) => landed)
    const { sync } = this.#task
    const fetchedAt = pages.at(-1)?.landed.fetchedAt ?? now(sync)
    const put: LandedPage[] = []
    for (const [place, bytes] of wholePages(pages, doesCount).entries()) {
      const facts = { sequence: sequence + 1 + place, page: place + 1, fetchedAt, runId: sync.runId }
      put.push(await sync.landing.land(this.#at.scanId, { ...facts, bytes }))
    }
    return put
  }
}

async function readList(task: ResourceTask, at: ScopeScan, before?: Reading): Promise<Reading> {
  const strategy = new SnapshotScan(task, at, before)
  const landed = await task.sync.landing.pages(at.scanId)
  const sequence = Math.max(0, ...landed.map(page => page.sequence))
  const from = before?.progress
    ? anotherPass(before.progress, strategy)
    : { pass: beginPass(1), attempt: 1, bases: [], sequence }
  if ((await scan(strategy, from)) === 'refused')
    throw new Incomplete({
      resource: task.resource.name,
      ...strategy.figures,
      reason: `the list did not show more in ${strategy.passes} passes`,
      next: 'the last complete snapshot stays; run muster sync again when the service is quieter',
    })
  return strategy.reading
}

export function readScope(task: ResourceTask, at: ScopeScan): Promise<Reading> {
  return (task.resource.read as Snapshot).rows === 'data' ? readList(task, at) : readObject(task, at)
}

/** Reads a list on, until it is proved. */
export function readAgain(task: ResourceTask, at: ScopeScan, before: Reading): Promise<Reading> {
  return readList(task, at, before)
}

/** Reads the scopes whose pages could not be loaded once more; throws any other failure, and the second of a page. */
export async function readUnreadable(
  task: ResourceTask,
  group: readonly ReadScope[],
  error: unknown,
): Promise<ReadScope[]> {
  if (!(error instanceof PageUnreadable) || !task.pipeline.readAgain.add(error.pages)) throw error
  const isUnreadable = ({ reading }: ReadScope): boolean =>
    reading.pages.some(({ file }) => error.pages.some(page => page.file === file))
  const again: ReadScope[] = []
  for (const read of group)
    again.push(isUnreadable(read) ? { ...read, reading: await readScope(task, read) } : read)
  return again
}
