/** Tests that fail where a mutant of this name is on: what `runner.test.ts` runs. */
import { beforeAll, describe, expect, test } from 'vitest'

const { __stryker__: instruments } = globalThis as { __stryker__?: { activeMutant?: string } }
const isOn = (mutant: string): boolean => instruments?.activeMutant === mutant

const isOnAtImport = isOn('of an import')
if (isOn('that breaks an import')) throw new Error('the import fails')
let isSpoilt = false

test('a first test', () => {
  expect(isOn('spoils')).toBe(false)
  expect(isSpoilt).toBe(false)
})

test('a second test', () => {
  isSpoilt ||= isOn('spoils another')
  expect(isOn('second')).toBe(false)
  expect(isOnAtImport).toBe(false)
})

describe('a suite', () => {
  beforeAll(() => {
    if (isOn('of a hook')) throw new Error('the hook fails')
  })

  test('with a hook', () => {
    expect(isOn('second')).toBe(false)
  })
})
