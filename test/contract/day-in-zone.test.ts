/** Days of timestamps: those of events are counted in the reporting zone, those that the service writes are not. */
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dayInZone, daySql, dayWritten } from '../../src/contract/fields/day-in-zone.ts'
import { defaultDays } from '../../src/lib/day-rule.ts'
import { openStage } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'

let engine: Engine
beforeAll(async () => {
  engine = await openStage(tmpdir())
})
afterAll(() => engine.close())

type Count = typeof dayInZone

async function counted(count: Count, instants: readonly string[], zone: string): Promise<(string | null)[]> {
  const rows = await engine.rows<{ day: string | null }>(
    `select cast(${count('moment', daySql({ ...defaultDays, zone }))} as varchar) as day
     from (select unnest([${instants.map(one => `timestamptz '${one}'`).join(', ')}]) as moment)`,
  )
  return rows.map(({ day }) => day)
}

const reportingZones = ['Europe/London', 'Asia/Kolkata', 'America/New_York', 'Pacific/Auckland', 'UTC']

/** Sundays in winter and in summer, as services in these zones write them. */
const sundays: readonly (readonly [zone: string, winter: readonly string[], summer: readonly string[]])[] = [
  [
    'UTC',
    ['2026-01-11T00:00:00Z', '2026-01-11T23:59:59.999Z'],
    ['2026-07-12T00:00:00Z', '2026-07-12T23:59:59Z'],
  ],
  [
    'Europe/London',
    ['2026-01-11T00:00:00Z', '2026-01-11T23:59:59.999Z'],
    ['2026-07-11T23:00:00Z', '2026-07-12T22:59:59.999Z'],
  ],
  [
    'Europe/Berlin',
    ['2026-01-10T23:00:00Z', '2026-01-11T22:59:59.999Z'],
    ['2026-07-11T22:00:00Z', '2026-07-12T21:59:59.999Z'],
  ],
  [
    'Asia/Kolkata',
    ['2026-01-10T18:30:00Z', '2026-01-11T18:29:59.999Z'],
    ['2026-07-11T18:30:00Z', '2026-07-12T18:29:59.999Z'],
  ],
  [
    'America/New_York',
    ['2026-01-11T05:00:00Z', '2026-01-12T04:59:59.999Z'],
    ['2026-07-12T04:00:00Z', '2026-07-13T03:59:59Z'],
  ],
  [
    'Pacific/Honolulu',
    ['2026-01-11T10:00:00Z', '2026-01-12T09:59:59.999Z'],
    ['2026-07-12T10:00:00Z', '2026-07-13T09:59:59Z'],
  ],
]

describe('a day that the service writes as a moment', () => {
  test.each(sundays)(
    'the midnights of %s give the same day in every reporting zone',
    async (_, winter, summer) => {
      for (const zone of reportingZones) {
        expect(await counted(dayWritten, winter, zone)).toEqual(['2026-01-11', '2026-01-11'])
        expect(await counted(dayWritten, summer, zone)).toEqual(['2026-07-12', '2026-07-12'])
      }
    },
  )

  test('the midnights of zones further east count in a reporting zone that shares them', async () => {
    const midnights = ['2026-01-10T11:00:00Z', '2026-07-11T12:00:00Z']
    expect(await counted(dayWritten, midnights, 'Pacific/Auckland')).toEqual(['2026-01-11', '2026-07-12'])
    const ends = ['2026-01-11T10:59:59.999Z', '2026-07-12T11:59:59.999Z']
    for (const zone of reportingZones)
      expect(await counted(dayWritten, ends, zone)).toEqual(['2026-01-11', '2026-07-12'])
  })

  test('a time of day counts in the reporting zone', async () => {
    const times = ['2026-07-12T07:20:00Z', '2026-07-12T14:37:22.123Z', '2026-07-12T17:00:00Z']
    expect(await counted(dayWritten, times, 'Europe/London')).toEqual(Array(3).fill('2026-07-12'))
    expect(await counted(dayWritten, times, 'Pacific/Auckland')).toEqual([
      '2026-07-12',
      '2026-07-13',
      '2026-07-13',
    ])
  })
})

test('the day of an event is that of the reporting zone, but midnight UTC is a day without a time', async () => {
  const instants = ['2026-07-11T23:00:00Z', '2026-07-12T22:59:59.999Z', '2026-07-12T00:00:00Z']
  const sunday = '2026-07-12'
  expect(await counted(dayInZone, instants, 'Europe/London')).toEqual([sunday, sunday, sunday])
  expect(await counted(dayInZone, instants, 'Asia/Kolkata')).toEqual([sunday, '2026-07-13', sunday])
})

test.each([
  ['of an event', dayInZone],
  ['that the service writes', dayWritten],
] as const)('a day %s is null outside of the plausible range, whose ends belong to it', async (_, count) => {
  const days = [
    '0001-01-01',
    '1970-01-01',
    '1999-12-31',
    '2000-01-01',
    '2049-12-31',
    '2050-01-01',
    '2205-06-01',
    '9999-12-31',
  ]
  const found = await counted(
    count,
    days.map(day => `${day}T00:00:00Z`),
    'Europe/London',
  )
  expect(found).toEqual([null, null, null, '2000-01-01', '2049-12-31', null, null, null])
})
