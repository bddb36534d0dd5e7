/** Commits the rows of a batch alone, as a test of what is loaded needs. */
import type { Commit } from '../../src/load/load-batch.ts'

export const mergeOnly: Commit = async (engine, { merge }) => {
  await engine.merge(merge)
}
