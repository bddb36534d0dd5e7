/** A plan names one range for everything that the next sync will request, whatever was read before. */
import { expect, test } from 'vitest'
import { openPlace } from '../support/synced-warehouse.ts'

interface Plan {
  readonly totals: { readonly requests: { readonly low: number; readonly high: number } }
}

const states: readonly (readonly [state: string, commands: readonly string[]])[] = [
  ['nothing was read', []],
  ['one list was read that refers to no record by id', ['sync companies']],
  ['the list that refers to most records was read', ['sync timesheets']],
  ['the first sync was stopped by its budget', ['sync --max-requests 40']],
  ['the first sync was stopped among records read by id', ['sync --max-requests 120']],
  ['records read by id were chosen alone', ['sync assignments']],
]

test.each(states)(
  'the requests of a sync are within its plan when %s',
  { timeout: 120_000 },
  async (_, commands) => {
    for (const seed of [3, 8]) {
      const place = await openPlace({ scale: 0.1, seed })
      for (const command of commands) await place.command(`${command} --quiet`)
      const plan = JSON.parse((await place.command('plan --json')).out) as Plan
      const before = place.sandbox.requests.length
      expect(await place.command('sync --quiet')).toMatchObject({ code: 0 })
      const requests = place.sandbox.requests.length - before
      const { low, high } = plan.totals.requests
      const isWithin = low <= requests && requests <= high
      expect({ low, high, requests, isWithin }).toEqual({ low, high, requests, isWithin: true })
      expect(high, 'a range that holds anything would say nothing').toBeLessThan(Math.max(low * 2, low + 30))
    }
  },
)
