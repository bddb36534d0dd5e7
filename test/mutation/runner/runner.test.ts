/** The runner of mutants, over three tests that fail for mutants of their choice. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { RulesTestRunner } from './plugin.ts'

let runner: RulesTestRunner

beforeAll(async () => {
  vi.stubEnv('MUSTER_RULES', 'test/mutation/runner/sample')
  const { RulesTestRunner } = await import('./plugin.ts')
  runner = new RulesTestRunner()
  await runner.init()
})
afterAll(async () => {
  await runner.dispose()
  vi.unstubAllEnvs()
})

async function killerOf(mutant: string, tests?: readonly string[]): Promise<string | undefined> {
  const { killer } = await runner.judge({ mutant, tests, hitLimit: undefined })
  return killer?.name
}

const named = (name: string): string => `sample.rules.test.ts > ${name}`

test('all tests pass without a mutant, and say which file they are of', async () => {
  const { tests } = await runner.reached()
  expect(tests.map(({ file, name, failure }) => [file, name, failure])).toEqual([
    ['sample.rules.test.ts', named('a first test'), undefined],
    ['sample.rules.test.ts', named('a second test'), undefined],
    ['sample.rules.test.ts', named('a suite > with a hook'), undefined],
  ])
})

test('a mutant that no test notices survives', async () => {
  expect(await killerOf('nothing')).toBeUndefined()
})

test('the first test that fails kills it', async () => {
  expect(await killerOf('second')).toBe(named('a second test'))
})

test('a hook that fails kills it', async () => {
  expect(await killerOf('of a hook')).toBe(named('a suite > with a hook'))
})

test('only the chosen tests judge it', async () => {
  const { tests } = await runner.reached()
  const ids = tests.filter(({ name }) => name.includes('first')).map(({ id }) => id)
  expect(await killerOf('second', ids)).toBeUndefined()
})

test('the next mutant is judged without what the previous one spoiled', async () => {
  expect(await killerOf('spoils another')).toBeUndefined()
  expect(await killerOf('nothing')).toBeUndefined()
})

test('a mutant of what a module computes at its import is on then, and off for the next mutant', async () => {
  const killed = async (mutant: string) => {
    const { killer } = await runner.judgeImported({ mutant, tests: undefined, hitLimit: undefined })
    return killer?.name
  }
  expect(await killerOf('of an import')).toBeUndefined()
  expect(await killed('of an import')).toBe(named('a second test'))
  expect(await killerOf('nothing')).toBeUndefined()
  expect(await killed('that breaks an import')).toBe('the import of the tests')
  expect(await killerOf('nothing')).toBeUndefined()
})
