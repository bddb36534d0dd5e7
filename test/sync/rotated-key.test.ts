/** A key that was replaced by one with the same lists: what is behind ids and gone is found all the same. */
import { expect, test } from 'vitest'
import { openSandbox } from '../sandbox/open-sandbox.ts'
import { thorough } from '../thorough.ts'
import { describeOnEngines, syncOnce } from '../warehouse/fixture.ts'

const begin = Date.parse('2026-11-02T10:00:00.000Z')
const dayMs = 86_400_000
const company = { id: 'c1', name: 'Company 1' }
const made = new Date(begin - 20 * dayMs).toISOString()
const record = (id: string) => ({ id, company, createdAt: made, updatedAt: made })
const ids = Array.from({ length: 8 }, (_, n) => `a${n}`)

describeOnEngines('by id, after the key was replaced', bench => {
  test.runIf(thorough)(
    'what the new key has shown, or the old one found gone, needs no event; the rest does',
    async () => {
      const sandbox = await openSandbox({
        records: {
          companies: [record('c1')],
          timesheets: ids.map(id => ({ ...record(`t-${id}`), assignment: { id } })),
          assignments: ids.map(record),
        },
        keys: ['old', 'new'].map(key => ({ key, kind: 'company' })),
      })
      const warehouse = await bench.warehouse()
      const run = async (days: number, apiKey: string, more: object = {}) => {
        const clock = { now: () => begin + days * dayMs, sleep: async () => undefined }
        const request = { resources: ['timesheets', 'assignments'], ...more }
        const { failure } = await syncOnce(sandbox, warehouse, {
          request,
          connection: { apiKey },
          effects: { clock },
        })
        expect(failure).toBeUndefined()
        const rows = await warehouse.engine.rows<{ id: string }>(
          'select assignment_id as id from star.fact_assignment where is_deleted order by 1',
        )
        return rows.map(({ id }) => id)
      }
      const sweep = { resources: ['assignments'], command: 'sweep', sweep: {} }
      await run(0, 'old')
      sandbox.world.remove('assignments', 'a2')
      await run(1, 'old')
      sandbox.world.remove('assignments', 'a3')
      // The new key reads a1 as it was, and is told of neither of the others.
      await run(2, 'new')
      sandbox.world.remove('assignments', 'a1')
      expect(await run(3, 'new')).toEqual([])
      expect(await run(4, 'new', sweep)).toEqual(['a1', 'a2'])
      // The owner of the new key may never have seen a3.
      expect(await run(5, 'new', sweep)).toEqual(['a1', 'a2'])
    },
  )
})
