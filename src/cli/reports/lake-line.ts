/** One line about the last publication to a lake. */
import type { LakeStatus } from '../../app/lake.ts'
import { counted } from '../../lib/counted.ts'
import { ageOf } from '../terminal/output.ts'

export function lakeLine({ address, snapshot }: LakeStatus, now: number): string {
  if (!snapshot) return `lake: nothing was published to ${address} yet`
  const { run, publishedAt, complete, incomplete, tables } = snapshot
  const proof = complete ? 'complete' : `${counted(incomplete.length, 'resource')} incomplete`
  return `lake: published ${ageOf(publishedAt, now)}, ${Object.keys(tables).length} tables, ${proof}, run ${run}: ${address}`
}
