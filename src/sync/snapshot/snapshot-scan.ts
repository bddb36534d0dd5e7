/** Reads one scope of a snapshot whole, or not at all. */
import { createHash } from 'node:crypto'
import { pageLimit } from '../../api/client/paging.ts'
import type { Snapshot } from '../../contract/fields/resource.ts'
import type { LandedPage } from '../../landing/folder.ts'
import { MusterError } from '../../lib/errors.ts'
import { recordTexts } from '../../load/page/stand-ins.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import type { ResourceTask } from '../run/context.ts'
import { Incomplete } from '../run/incomplete.ts'
import { beginPass, figuresOf } from '../scan/pass.ts'
import { type Decision, judge, mostPasses } from '../scan/proof.ts'
import { type Progress, type ScannedPage, type Strategy, scan } from '../scan/scan.ts'
import type { Scope } from './scopes.ts'

export interface Reading {
  readonly pages: readonly LandedPage[]
  /** Rows on the pages, which is as many as the service claimed. */
  readonly total: number
  /** Of a list: the same for the same rows in any order. */
  readonly digest?: string
}

interface SnapshotPage extends ScannedPage {
  readonly landed: LandedPage
  /** Each row as JSON. */
  readonly texts: readonly string[]
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
  return { pages: [await sync.landing.land(scanId, arrived)], total }
}

/** A list without a change time, whose pages are loaded together when they show it as it was at one time. */
class SnapshotScan implements Strategy<SnapshotPage> {
  readonly order = 'first to last'
  readonly #task: ResourceTask
  readonly #at: ScopeScan
  /** Set when the list must show the same rows again: those of the last complete pass. */
  #previousDigest: string | undefined
  #pages: LandedPage[] = []
  #texts: string[] = []
  reading: Reading = { pages: [], total: 0 }
  /** Of the last pass. */
  figures = { seen: 0, expected: 0 }

  constructor(task: ResourceTask, at: ScopeScan, before?: Reading) {
    this.#task = task
    this.#at = at
    this.#previousDigest = before?.digest
  }

  async ask(page: number, { sequence }: Progress): Promise<SnapshotPage> {
    const { sync, resource, counters } = this.#task
    const { scope, scanId } = this.#at
    const query = { ...resource.query, ...scope.query, page, limit: pageLimit }
    const answer = await sync.client.getPage(pathOf(this.#task, scope), query)
    counters.requests += 1
    const { fetchedAt, bytes } = answer
    const arrived = { sequence: sequence + 1, page, fetchedAt, runId: sync.runId, bytes }
    const landed = await sync.landing.land(scanId, arrived)
    // Parsed only to be checked: a row that nests deeper than the stack cannot be written again.
    answer.records()
    const texts = recordTexts(bytes)
    const { total } = answer.meta
    return { page, total, empty: texts.length === 0, rows: texts.length, landed, texts }
  }

  async keep({ landed, texts }: SnapshotPage): Promise<void> {
    this.#pages.push(landed)
    this.#texts.push(...texts)
  }

  /** A snapshot that was cut off begins anew in the next run. */
  async save(): Promise<void> {}

  async decide({ pass, attempt }: Progress): Promise<Decision> {
    const rows = this.#texts.splice(0).sort()
    const pages = this.#pages.splice(0)
    const digest = createHash('sha256').update(rows.join('\n')).digest('hex')
    const kind = 'snapshot'
    const figures = figuresOf(pass, { kind, isWhole: true, attempt, distinctIds: 0, rows: pass.rows, digest })
    const previousDigest = this.#previousDigest
    this.figures = { seen: pass.rows, expected: pass.greatestTotal }
    if (judge(figures) !== 'accepted') return judge(figures)
    this.reading = { pages, total: pass.greatestTotal, digest }
    if (previousDigest === undefined) return 'accepted'
    this.#previousDigest = digest
    return judge({ ...figures, previousDigest })
  }
}

async function readList(task: ResourceTask, at: ScopeScan, before?: Reading): Promise<Reading> {
  const strategy = new SnapshotScan(task, at, before)
  const sequence = Math.max(0, ...task.sync.landing.pages(at.scanId).map(page => page.sequence))
  const decision = await scan(strategy, { pass: beginPass(1), attempt: 1, sequence })
  if (decision === 'refused')
    throw new Incomplete({
      resource: task.resource.name,
      ...strategy.figures,
      reason: `the list changed while it was read, ${mostPasses.snapshot} times`,
      next: 'the last complete snapshot stays; run muster sync again when the service is quieter',
    })
  return strategy.reading
}

export function readScope(task: ResourceTask, at: ScopeScan): Promise<Reading> {
  return (task.resource.read as Snapshot).rows === 'data' ? readList(task, at) : readObject(task, at)
}

/**
 * Reads a list until two passes in a row show the same rows. When a row of a page that was read is deleted and another is
 * appended before the next page, one between them slides past, and the totals agree all the same.
 */
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
