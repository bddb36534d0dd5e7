/** Every reading of the day filters, in zones around the world and around changes of the clock. */
import { expect, test } from 'vitest'
import type { ContractOptions } from '../../src/sandbox/options.ts'
import { describeOnEngines } from '../support/warehouse-fixture.ts'
import { followed } from './day-readings.ts'

const zones = ['-12:00', '-03:30', 'UTC', 'Europe/London', 'Asia/Kolkata', 'Pacific/Auckland', '+14:00']
const readings = zones.flatMap(zone =>
  (['inclusive', 'exclusive'] as const).flatMap(from =>
    (['inclusive', 'midnight', 'exclusive'] as const).map(
      (to): Partial<ContractOptions> => ({ from, to, 'day-zone': zone }),
    ),
  ),
)

describeOnEngines('a sync loses nothing, whatever the day filters mean', bench => {
  const plain = followed.bind(undefined, bench, {})
  let wanted: ReturnType<typeof followed> | undefined

  test.each(readings)('%j', async options => {
    wanted ??= plain()
    expect(await followed(bench, options)).toEqual(await wanted)
  })
})
