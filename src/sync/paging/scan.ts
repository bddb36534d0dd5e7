/** The one loop that reads lists: the pages of a pass in turn, and passes until one of them proves the scan. */
import { nextPass } from './begin-again.ts'
import { advance, confirm } from './pass.ts'
import type { Answer, PassRules, PassState } from './pass-state.ts'
import { type Base, type Decision, otherSizes } from './proof.ts'

/** How far a scan is. */
export interface Progress {
  readonly pass: PassState
  /** How often the scan was begun, from 1; a pass that has to begin anew to learn the size of pages is no other attempt. */
  readonly attempt: number
  /** The moments at which its passes began. */
  readonly bases: readonly Base[]
  /** Pages that arrived, over all passes. */
  readonly sequence: number
}

/** A page that counts, and its place in the order of arrival where it has arrived before. */
export interface ScannedPage extends Answer {
  readonly sequence?: number
}

/** What differs between backfill, incremental scan, snapshot and sweep. */
export interface Strategy<Page extends ScannedPage> {
  /** Of a pass: how it reads, and how many rows it asks for a page. */
  rules(progress: Progress): PassRules & { readonly size?: number }
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

/** The moments with that of this pass. */
export function withBase(bases: readonly Base[], { base, voided, validSince }: PassState): readonly Base[] {
  const others = bases.filter(({ pass }) => pass !== base?.pass && pass !== voided && pass >= validSince)
  return base ? [...others, base] : others
}

/** Whether the list has a single page. */
const isOnePage = ({ pages, base }: PassState): boolean => pages === 1 && base?.front === 1

/** Reads the rest of a pass. What stops it is thrown when the pages read so far are saved. */
export async function readPass<Page extends ScannedPage>(
  strategy: Strategy<Page>,
  from: Progress,
): Promise<Progress> {
  let progress = from
  try {
    while (progress.pass.nextPage > 0) {
      const page = await strategy.ask(progress.pass.nextPage, progress)
      const rules = { ...strategy.rules(progress), seeksEnd: progress.attempt >= otherSizes }
      const pass = advance(progress.pass, page, rules)
      const sequence = page.sequence ?? progress.sequence + 1
      progress = { ...progress, pass, bases: withBase(progress.bases, pass), sequence }
      await strategy.keep(page, progress)
    }
    if (strategy.asksTwice && isOnePage(progress.pass) && !strategy.rules(progress).isShort) {
      const page = await strategy.ask(1, progress)
      const pass = confirm(progress.pass, page)
      progress = { ...progress, pass, bases: withBase(progress.bases, pass) }
      await strategy.keep(page, progress)
    }
    return progress
  } catch (error) {
    await strategy.save(progress)
    throw error
  }
}

/** The progress at the beginning of another pass. */
export function anotherPass<Page extends ScannedPage>(
  progress: Progress,
  strategy: Pick<Strategy<Page>, 'rules'>,
): Progress {
  const again = { ...progress, attempt: progress.attempt + 1 }
  const { order, size } = strategy.rules(again)
  return { ...again, pass: nextPass(progress.pass, order, size) }
}

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
