/** More than a million histories of the model of scan-model.test.ts. */
import { expect, test } from 'vitest'
import { proveHistories, proveKeeping } from './proved-histories.ts'

const thousand = 1_000
const from = (first: number, many: number): [number, number] => [first, first + many - 1]

for (let part = 0; part < 9; part += 1)
  test(`histories, part ${part + 1} of 9`, async () => {
    const [first, last] = from(part * 100 * thousand + 1, 100 * thousand)
    expect((await proveHistories(first, last)).accepted).toBeGreaterThan(90 * thousand)
  }, 600_000)

test('histories of a service that is wrong about totals and pages', async () => {
  const [first, last] = from(1, 100 * thousand)
  expect((await proveHistories(first, last, { hasLies: true })).accepted).toBeGreaterThan(50 * thousand)
}, 600_000)

test('copies that are kept up to date', async () => {
  expect(await proveKeeping(...from(1, 50 * thousand))).toBe(50 * thousand)
}, 600_000)
