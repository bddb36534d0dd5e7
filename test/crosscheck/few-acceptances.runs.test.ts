/** A service of which few acceptances are known: many zones show the same days of them, and others of the approvals. */
import { expect, test } from 'vitest'
import { thorough } from '../support/long-suite.ts'
import { openPlace } from '../support/synced-warehouse.ts'

const services = [
  ['America/St_Johns', 0.02],
  ['Asia/Kathmandu', 0.03],
  ['Pacific/Chatham', 0.03],
  ['Asia/Kolkata', 0.02],
] as const

test.each(thorough ? services : services.slice(0, 2))(
  'counts days by the midnights of %s',
  { timeout: 300_000 },
  async (zone, scale) => {
    const place = await openPlace({ scale, options: { 'fill-days': 'calendarZone', 'day-zone': zone } })
    expect((await place.command('sync --quiet')).code).toBe(0)
    const { out } = await place.command('crosscheck --json')
    const { unexplained, definition } = JSON.parse(out)
    expect({ unexplained, days: definition.days }).toEqual({ unexplained: 0, days: 'calendarZone' })
  },
)
