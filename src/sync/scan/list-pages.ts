/** Provides the pages of a loaded scan: landed by an earlier run, or fetched and landed now. */
import type { FetchedPage } from '../../api/client/client.ts'
import { type Meta, readEnvelope } from '../../api/client/envelope.ts'
import { RetriableError } from '../../api/client/errors.ts'
import { pageLimit } from '../../api/client/paging.ts'
import type { LandedPage } from '../../landing/landing.ts'
import { pageBytes } from '../../lib/stored-page.ts'
import { unbrokenRecords } from '../../load/page/stand-ins.ts'
import { PageUnreadable } from '../../load/read/page-repair.ts'
import type { ScanRow } from '../../state/scans/tables.ts'
import type { KnownTimes } from '../paging/page-facts.ts'
import { factsOf } from '../paging/page-facts.ts'
import { rowsAgreed } from '../paging/pass.ts'
import { type PassPlan, planOf } from '../paging/pass-plan.ts'
import type { ScannedPage, ScanProgress } from '../paging/scan.ts'
import type { ResourceTask } from '../run/context.ts'
import { digestOf, rowsOf, type ScanRowTimes } from './same-rows.ts'

export interface ListRequest {
  readonly row: ScanRow
  readonly query: Readonly<Record<string, string>>
  /** Where an incremental scan ends; absent when the list is read down to its first page. */
  readonly known?: KnownTimes
  /** How many rows the list hides, as learnt from earlier scans. */
  readonly hiddenRows?: number
  /** Digests of the rows that the previous incremental scan has read and loaded. */
  readonly sameRows?: ReadonlySet<string>
}

export interface LoadedPage extends ScannedPage {
  readonly landed: LandedPage
  /** Digest of its rows, in an incremental scan. */
  readonly digest?: string | undefined
  /** Its rows, if they are byte for byte those of the previous scan. */
  readonly same?: readonly ScanRowTimes[] | undefined
}

/**
 * Turns a malformed body into PageUnreadable, so that the page is fetched again instead of being found in the landing
 * again.
 */
function orUnreadable<Result>(page: LandedPage, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RetriableError || error instanceof SyntaxError)) throw error
    throw new PageUnreadable([{ ...page, scope: {} }], error)
  }
}

/** Whether to parse records. On later pages only if the scan ends among them, or its first pass proved nothing. */
export const areRecordsNeeded = (
  { known, hiddenRows }: Pick<ListRequest, 'known' | 'hiddenRows'>,
  { pass, attempt }: Pick<ScanProgress, 'pass' | 'attempt'>,
): boolean => known !== undefined || hiddenRows !== undefined || pass.pages < 2 || attempt > 1

type PageContent = Pick<FetchedPage, 'empty' | 'meta' | 'bytes'> & { records(): unknown }

export class ListPages {
  readonly #task: ResourceTask
  readonly #request: ListRequest
  /** Pages that an earlier run landed but did not load: they cost no request. */
  readonly #landed: LandedPage[]

  constructor(task: ResourceTask, request: ListRequest, landed: readonly LandedPage[]) {
    this.#task = task
    this.#request = request
    this.#landed = [...landed]
  }

  planOf({ attempt, starts }: ScanProgress): PassPlan {
    return planOf(attempt, { isPart: this.#request.known !== undefined, total: starts[0]?.total })
  }

  async ask(page: number, progress: ScanProgress): Promise<LoadedPage> {
    const landed = await this.#nextLanded(page)
    if (!landed) return this.#fetch(page, progress)
    const content = orUnreadable(landed, () => {
      const bytes = pageBytes(landed)
      const envelope = readEnvelope(bytes, { page, limit: pageLimit })
      return { ...envelope, meta: envelope.meta as Meta, bytes }
    })
    return this.#look(landed, content, progress)
  }

  async #nextLanded(page: number): Promise<LandedPage | undefined> {
    for (let landed = this.#landed.shift(); landed; landed = this.#landed.shift()) {
      if (landed.page === page) return landed
      await this.#task.sync.landing.forget(landed)
    }
    return undefined
  }

  async #fetch(page: number, progress: ScanProgress): Promise<LoadedPage> {
    const { sync, resource, counters } = this.#task
    const plan = this.planOf(progress)
    const query = { ...this.#request.query, sortBy: plan.sortBy, page, limit: progress.pass.size }
    const options = { mayBeHollow: true, rows: rowsAgreed(progress.pass) }
    const answer = await sync.client.getPage(resource.path, query, options)
    counters.requests += 1
    const { fetchedAt, bytes } = answer
    const arrived = { sequence: progress.sequence + 1, page, fetchedAt, runId: sync.runId, bytes }
    const landed = await sync.landing.land(this.#request.row.scan_id, arrived)
    return this.#look(landed, answer, progress)
  }

  /** Parses records only if the scan needs them: parsing a page costs more than fetching it. */
  #look(landed: LandedPage, content: PageContent, { pass, attempt }: ScanProgress): LoadedPage {
    const { resource, sync } = this.#task
    const { known } = this.#request
    const { empty, meta, records } = content
    const { page, sequence } = landed
    const base = {
      landed,
      sequence,
      page,
      empty,
      total: meta.total,
      limit: meta.limit,
      ...(empty && { rows: 0 }),
    }
    if (!areRecordsNeeded(this.#request, { pass, attempt })) return base
    const rows = this.#task.pipeline.readAgain.has(landed)
      ? unbrokenRecords(pageBytes(landed))
      : orUnreadable(landed, () => records() as unknown[])
    const facts = factsOf(rows, { updatedAt: resource.updatedAt, known, now: sync.clock.now() })
    return { ...base, ...facts, ...this.#sameness(content.bytes, rows) }
  }

  #sameness(bytes: Buffer, rows: readonly unknown[]): Pick<LoadedPage, 'digest' | 'same'> {
    const { known, sameRows } = this.#request
    const { resource, sync } = this.#task
    if (known === undefined || resource.updatedAt === undefined) return {}
    const digest = digestOf(bytes, sync.recordLimits)
    const isSame = digest && sameRows?.has(digest)
    return { digest, ...(isSame && { same: rowsOf(rows, resource.updatedAt) }) }
  }
}
