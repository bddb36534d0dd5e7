/** Records with equal sort keys, in another order with every answer: read whole as long as the list is at rest. */
import { expect, test } from 'vitest'
import { seededRng } from '../../src/lib/rng.ts'
import { thorough } from '../support/long-suite.ts'
import { ChangingList } from './changing-list.ts'
import { type Kind, modelScan } from './modelled-scan.ts'

const calm = { change: 0, insert: 0, remove: 0, bulk: 0, late: 0, shuffle: 1, tie: 1 }

const kinds: readonly Kind[] = ['loaded', 'sweep', 'snapshot']
const sizes = [
  { rows: 245, pageSize: 50, times: thorough ? 400 : 40 },
  { rows: 245, pageSize: 200, times: 20 },
  ...(thorough ? [{ rows: 10_000, pageSize: 200, times: 2 }] : []),
]

/** Each reads every page; see the bounds of `judge`. */
const maxPasses = 30

test.each(kinds.flatMap(kind => sizes.map(size => ({ kind, ...size }))))(
  'a $kind of $rows ties over pages of $pageSize is never refused',
  async ({ kind, rows, pageSize, times }) => {
    for (let seed = 1; seed <= times; seed += 1) {
      const list = new ChangingList({ ...calm, rows, pageSize }, seededRng(seed))
      const { decision, seen, requests } = await modelScan(list, { kind, pageSize })
      expect({ seed, decision, seen: seen.size }).toEqual({ seed, decision: 'accepted', seen: rows })
      expect(requests / Math.ceil(rows / pageSize)).toBeLessThan(1.3 * maxPasses)
    }
  },
)
