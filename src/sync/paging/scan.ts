/** Reads lists in a single loop: the pages of a pass in turn, and passes until one proves the scan. */
import type { PageFacts } from './page-facts.ts'
import { advance, advanceAgain, confirm, nextPass, type Pass, type PassRules } from './pass.ts'
import { otherSizes, type PassStart, type ScanDecision } from './proof.ts'

/** Progress of a scan. */
export interface ScanProgress {
  readonly pass: Pass
  /** Number of the attempt, from 1; a pass that begins again to learn the page size is not a new attempt. */
  readonly attempt: number
  /** Starts of the passes so far. */
  readonly starts: readonly PassStart[]
  /** Pages received, over all passes. */
  readonly sequence: number
  /** Rows of a full page, as learnt by the scan. */
  readonly pageSize: number
}

/** A page that counts, with its order of arrival if it arrived earlier. */
export interface ScannedPage extends PageFacts {
  readonly sequence?: number
}

/** What differs between backfill, incremental scan, snapshot and sweep. */
export interface Strategy<Page extends ScannedPage> {
  /** The rules of a pass, and how many rows to request for each page. */
  rules(progress: ScanProgress): PassRules & { readonly size?: number }
  /** Requests the only page of a pass a second time. */
  readonly asksTwice?: boolean
  /** Returns a page: fetched now, or landed by an earlier run. */
  ask(page: number, progress: ScanProgress): Promise<Page>
  /** Drops a page that contradicts itself before it is requested again. */
  drop(page: Page): Promise<void>
  /** Adds a page; the progress already includes it. */
  keep(page: Page, progress: ScanProgress): Promise<void>
  /** Saves the pages added so far, at the end of a pass or when it is interrupted. */
  save(progress: ScanProgress): Promise<void>
  /** Decides what a finished, saved pass proves. */
  decide(progress: ScanProgress): Promise<ScanDecision>
}

/** The starts so far, with this pass's own. */
export function withStart(starts: readonly PassStart[], { start }: Pass): readonly PassStart[] {
  return start ? [...starts.filter(({ pass }) => pass !== start.pass), start] : starts
}

/** Whether the list has a single page. */
const isOnePage = ({ pages, start, contradiction }: Pass): boolean =>
  pages === 1 && start?.front === 1 && contradiction === undefined

function withPage(progress: ScanProgress, pass: Pass): ScanProgress {
  const pageSize = pass.size === progress.pass.size ? progress.pageSize : pass.size
  return { ...progress, pass, starts: withStart(progress.starts, pass), pageSize }
}

interface AdvancedScan<Page> {
  readonly page: Page
  readonly pass: Pass
}

/**
 * Requests the next page. Requests it again if the service contradicts itself, or reports smaller pages than requested:
 * that may be a glitch.
 */
async function askPage<Page extends ScannedPage>(
  strategy: Strategy<Page>,
  progress: ScanProgress,
): Promise<AdvancedScan<Page>> {
  const number = progress.pass.nextPage
  const rules = { ...strategy.rules(progress), seeksEnd: progress.attempt >= otherSizes }
  const page = await strategy.ask(number, progress)
  const pass = advance(progress.pass, page, rules)
  const isSmaller = (page.limit ?? progress.pass.size) < progress.pass.size
  if (pass.contradiction === undefined && !isSmaller) return { page, pass }
  await strategy.drop(page)
  const second = await strategy.ask(number, progress)
  const answers = { first: page, second }
  const isSlip = pass.contradiction === undefined
  return {
    page: second,
    pass: isSlip ? advance(progress.pass, second, rules) : advanceAgain(progress.pass, answers, rules),
  }
}

/** Reads the rest of a pass. When interrupted, saves the pages read so far, then rethrows. */
export async function readPass<Page extends ScannedPage>(
  strategy: Strategy<Page>,
  from: ScanProgress,
): Promise<ScanProgress> {
  let progress = from
  try {
    while (progress.pass.nextPage > 0) {
      const { page, pass } = await askPage(strategy, progress)
      const sequence = page.sequence ?? progress.sequence + 1
      progress = { ...withPage(progress, pass), sequence }
      await strategy.keep(page, progress)
    }
    if (strategy.asksTwice && isOnePage(progress.pass) && !strategy.rules(progress).isShort) {
      const page = await strategy.ask(1, progress)
      progress = withPage(progress, confirm(progress.pass, page))
      await strategy.keep(page, progress)
    }
    return progress
  } catch (error) {
    await strategy.save(progress)
    throw error
  }
}

/** The progress at the beginning of the next pass. */
export function anotherPass<Page extends ScannedPage>(
  progress: ScanProgress,
  strategy: Pick<Strategy<Page>, 'rules'>,
): ScanProgress {
  const again = { ...progress, attempt: progress.attempt + 1 }
  const { order, size } = strategy.rules(again)
  return { ...again, pass: nextPass(progress.pass, order, size) }
}

/** Reads pass after pass until the scan is accepted or refused. */
export async function scan<Page extends ScannedPage>(
  strategy: Strategy<Page>,
  from: ScanProgress,
): Promise<'accepted' | 'refused'> {
  for (let progress = from; ; progress = anotherPass(progress, strategy)) {
    progress = await readPass(strategy, progress)
    await strategy.save(progress)
    const decision = await strategy.decide(progress)
    if (decision !== 'scan again') return decision
  }
}
