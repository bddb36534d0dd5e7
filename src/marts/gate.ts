/**
 * Where checks stand between a rebuilt mart and its readers. A gate looks at a mart inside the transaction that holds its
 * new rows: what it finds with the severity `error` undoes them, and yesterday's stay.
 */
import type { Engine } from '../warehouse/engine.ts'
import type { Mart } from './mart.ts'

export interface Finding {
  /** Name of the check. */
  readonly check: string
  readonly severity: 'error' | 'warn'
  /** Rows that it returned; a check without any found nothing and need not be told. */
  readonly rows: number
}

/**
 * Called once a mart that is rebuilt, after its rows are in place and before they commit. It may read whatever it likes
 * and must not write: with the rows of a refused mart, what it wrote would be undone. A check that cannot run throws.
 */
export type Gate = (engine: Engine, mart: Mart) => Promise<readonly Finding[]>

/** For a build without checks. */
export const openGate: Gate = async () => []
