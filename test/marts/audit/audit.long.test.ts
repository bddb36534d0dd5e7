import { expect, test } from 'vitest'
import { audited } from './audit-of-seed.ts'

const zones = ['Europe/London', 'America/New_York', 'Pacific/Auckland']
const seeds = Array.from(
  { length: 10 },
  (_, place) => [place + 11, zones[place % zones.length] ?? ''] as const,
)

test.each(seeds)(
  'seed %i, days in %s: every mart has the rows and figures that its header says',
  async (seed, zone) => {
    const { marts, rows, figures, lines } = await audited({ seed }, zone)
    console.log(`seed ${seed}, ${zone}: ${marts} marts, ${rows} rows, ${figures} figures`)
    expect(lines).toEqual([])
  },
)
