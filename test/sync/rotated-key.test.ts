/** A key is replaced by one that reads the same lists: deleted records behind ids are still found. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../support/long-suite.ts'
import { type Bench, describeOnEngines, syncOnce } from '../support/warehouse-fixture.ts'

const begin = Date.parse('2026-11-02T10:00:00.000Z')
const dayMs = 86_400_000
const company = { id: 'c1', name: 'Company 1' }
const made = new Date(begin - 20 * dayMs).toISOString()
const record = (id: string) => ({ id, company, createdAt: made, updatedAt: made })
const ids = Array.from({ length: 8 }, (_, n) => `a${n}`)

const sweep = { resources: ['assignments'], command: 'sweep', sweep: {} }

/** Assignments that two keys can read, and those that are stored as deleted after a run with one of them. */
async function openTwoKeys(bench: Bench) {
  const sandbox = await openSandbox({
    records: {
      companies: [record('c1')],
      timesheets: ids.map(id => ({ ...record(`t-${id}`), assignment: { id } })),
      assignments: ids.map(record),
    },
    keys: ['old', 'new'].map(key => ({ key, kind: 'company' })),
  })
  const warehouse = await bench.warehouse()
  return {
    remove: (id: string) => sandbox.world.remove('assignments', id),
    deletedAfter: async (days: number, apiKey: string, more: object = {}): Promise<string[]> => {
      const clock = { now: () => begin + days * dayMs, sleep: async () => undefined }
      const request = { resources: ['timesheets', 'assignments'], ...more }
      const { failure } = await syncOnce(sandbox, warehouse, {
        request,
        connection: { apiKey },
        effects: { clock },
      })
      expect(failure, `the run of day ${days}`).toBeUndefined()
      const rows = await warehouse.engine.rows<{ id: string }>(
        'select assignment_id as id from star.fact_assignment where is_deleted order by 1',
      )
      return rows.map(({ id }) => id)
    },
  }
}

describeOnEngines('by id, after the key was replaced', bench => {
  test.runIf(thorough)(
    'what the new key has shown, or the old one found gone, needs no event; the rest does',
    async () => {
      const { remove, deletedAfter } = await openTwoKeys(bench)
      await deletedAfter(0, 'old')
      remove('a2')
      await deletedAfter(1, 'old')
      remove('a3')
      // The new key reads a1 as it was, and gets no event of the others.
      await deletedAfter(2, 'new')
      remove('a1')

      expect(await deletedAfter(3, 'new'), 'after a sync').toEqual([])
      expect(await deletedAfter(4, 'new', sweep), 'after a sweep').toEqual(['a1', 'a2'])
      // The owner of the new key may never have seen a3.
      expect(await deletedAfter(5, 'new', sweep), 'after another sweep').toEqual(['a1', 'a2'])
    },
  )
})
