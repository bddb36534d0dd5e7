/** Which rule of others is named for a failure, and which failures are never blamed on one. */
import { describe, expect, test } from 'vitest'
import {
  blamedRule,
  type ForeignRule,
  type ServerFailure,
} from '../../../src/warehouse/postgres/rights/foreign-rules.ts'

const rule = (kind: string, name: string, calls: string | null = null): ForeignRule => ({
  kind,
  name,
  place: 'star.fact_shift',
  on: 'star.fact_shift',
  of: 'star.fact_shift',
  owner: 'ann',
  removal: '',
  calls,
})
const rules = [
  rule('foreign key', 'known_site'),
  rule('trigger', 'noting', 'note'),
  rule('check constraint', 'early'),
]
const inTrigger = 'SQL statement "select 1"\nPL/pgSQL function analytics.note() line 1 at PERFORM'
const blamed = (failed: Partial<ServerFailure>): string | undefined =>
  blamedRule(rules, { code: '', message: '', ...failed }, ['star.fact_shift'])?.name

describe('a failure of the server inside a function of a trigger is not blamed on the trigger', () => {
  test.each([
    ['08006', 'a lost connection'],
    ['25P03', 'a session that was idle for too long'],
    ['25P04', 'a transaction that took too long'],
    ['40001', 'a serialisation failure'],
    ['40P01', 'a deadlock'],
    ['53100', 'a full disk'],
    ['53200', 'no memory'],
    ['53300', 'too many connections'],
    ['53400', 'a limit of the server'],
    ['55P03', 'a lock that is not available'],
    ['57014', 'a cancelled statement'],
    ['57P01', 'a connection that the administrator ended'],
    ['57P02', 'a crash of another process'],
    ['57P05', 'a session that was ended for being idle'],
    ['58000', 'a system error'],
    ['58030', 'an i/o error'],
    ['XX000', 'an internal error'],
    ['XX001', 'a damaged table'],
    ['ECONNRESET', 'a reset connection'],
  ])('%s: %s', code => {
    expect(blamed({ code, where: code === 'ECONNRESET' ? '' : inTrigger })).toBeUndefined()
  })
})

test.each(['P0001', '22012', '23505', '42P01', '42501', '54001', '0A000'])(
  'an error %s inside a function of a trigger is blamed on the trigger',
  code => {
    expect(blamed({ code, where: inTrigger })).toBe('noting')
  },
)

test('blames a violated constraint of another owner by its name, and none of our own', () => {
  const violation = { code: '23503', schema: 'star', table: 'fact_shift' }
  expect(blamed({ ...violation, constraint: 'known_site' })).toBe('known_site')
  expect(blamed({ ...violation, constraint: 'fact_shift_pkey' })).toBeUndefined()
})

test('a function whose name only contains that of the trigger is not its function', () => {
  expect(blamed({ code: '42P01', where: 'PL/pgSQL function analytics.note_all() line 1' })).toBeUndefined()
})
