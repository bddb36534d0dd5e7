/** The one loop that reads lists: the pages of a pass in turn, and passes until one of them proves the scan. */
import { type Answer, advance, confirm, nextPass, type PassRules, type PassState } from './pass.ts'
import type { Decision } from './proof.ts'

/** How far a scan is. */
export interface Progress {
  readonly pass: PassState
  /** Number of the pass, from 1. */
  readonly attempt: number
  /** Pages that arrived, over all passes. */
  readonly sequence: number
}

/** A page that counts, and its place in the order of arrival where it has arrived before. */
export interface ScannedPage extends Answer {
  readonly sequence?: number
}

/** What differs between backfill, incremental scan, snapshot and sweep. */
export interface Strategy<Page extends ScannedPage> extends PassRules {
  /** Asks a second time for the only page of a pass. */
  readonly asksTwice?: boolean
  /** The page as it counts: asked for, or landed by an earlier run. */
  ask(page: number, progress: Progress): Promise<Page>
  /** Keeps a page; the progress includes it. */
  keep(page: Page, progress: Progress): Promise<void>
  /** Writes down everything kept so far, at the end of a pass or when it is interrupted. */
  save(progress: Progress): Promise<void>
  /** What a pass is worth that is over and saved. */
  decide(progress: Progress): Promise<Decision>
}

/** Reads the rest of a pass. What stops it is thrown when the pages read so far are saved. */
export async function readPass<Page extends ScannedPage>(
  strategy: Strategy<Page>,
  from: Progress,
): Promise<Progress> {
  let progress = from
  try {
    while (progress.pass.nextPage > 0) {
      const page = await strategy.ask(progress.pass.nextPage, progress)
      const pass = advance(progress.pass, page, strategy)
      progress = { ...progress, pass, sequence: page.sequence ?? progress.sequence + 1 }
      await strategy.keep(page, progress)
    }
    if (strategy.asksTwice && progress.pass.pages === 1) {
      const page = await strategy.ask(1, progress)
      progress = { ...progress, pass: confirm(progress.pass, page) }
      await strategy.keep(page, progress)
    }
    return progress
  } catch (error) {
    await strategy.save(progress)
    throw error
  }
}

/** The progress at the beginning of another pass. */
export const anotherPass = ({ pass, attempt, sequence }: Progress, { order }: PassRules): Progress => ({
  pass: nextPass(pass, order),
  attempt: attempt + 1,
  sequence,
})

/** Reads pass after pass until the scan is accepted or refused. */
export async function scan<Page extends ScannedPage>(
  strategy: Strategy<Page>,
  from: Progress,
): Promise<'accepted' | 'refused'> {
  for (let progress = from; ; progress = anotherPass(progress, strategy)) {
    progress = await readPass(strategy, progress)
    await strategy.save(progress)
    const decision = await strategy.decide(progress)
    if (decision !== 'scan again') return decision
  }
}
