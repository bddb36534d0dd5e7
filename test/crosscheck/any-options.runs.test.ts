/** The first night with a service is green, whatever it decides where the contract leaves it a choice. */
import { expect, test } from 'vitest'
import { thorough } from '../support/long-suite.ts'
import { seedsOf } from '../support/seed-list.ts'
import { openPlace } from '../support/synced-warehouse.ts'
import { drawnOptions } from './settings.ts'

test.runIf(thorough).each(seedsOf('1-60'))('options drawn with %i', { timeout: 300_000 }, async seed => {
  const options = drawnOptions(seed)
  const place = await openPlace({ scale: 0.1, options })
  const { code, out, err } = await place.command('dag run nightly')
  expect({
    options,
    code,
    failed: /^\w+ +(failed|skipped).*$/gm.exec(out)?.[0],
    err: code === 0 ? '' : err,
  }).toEqual({
    options,
    code: 0,
    failed: undefined,
    err: '',
  })
  const { out: json } = await place.command('crosscheck --json')
  expect(JSON.parse(json)).toMatchObject({ unexplained: 0, allLookedInto: true, calibration: null })
})
