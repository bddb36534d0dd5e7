/** When what a key sees is the same, when it may have changed during a run, and whether an earlier run saw all of it. */
import { describe, expect, test } from 'vitest'
import {
  type KeySight,
  recordKeyScope,
  sawAllOf,
  scopeIdOf,
  unsettled,
} from '../../../src/state/evidence/key-scopes.ts'
import { hour, keyScope, ledgerBench } from '../../support/ledger-bench.ts'

const bench = ledgerBench()

const refs = (...ids: readonly string[]) => ids.map(id => ({ id }))
const sight: KeySight = {
  kind: 'company',
  scopes: ['read', 'write'],
  companies: refs('c1', 'c2'),
  agencies: refs('a1'),
}

describe('the id of a scope', () => {
  const id = scopeIdOf('key', sight)
  test('is the same whatever the order of the lists, and with an id twice', () => {
    expect(id).toMatch(/^[0-9a-f]{16}$/)
    expect(
      scopeIdOf('key', { ...sight, scopes: ['write', 'read', 'read'], companies: refs('c2', 'c1', 'c2') }),
    ).toBe(id)
    expect(scopeIdOf('key', { kind: 'agency', scopes: [] })).toBe(
      scopeIdOf('key', { kind: 'agency', scopes: [], companies: [], agencies: [] }),
    )
  })

  test.each<[string, string, Partial<KeySight>]>([
    ['another key', 'key 2', {}],
    ['another kind', 'key', { kind: 'agency' }],
    ['another permission', 'key', { scopes: ['read'] }],
    ['another company', 'key', { companies: refs('c1') }],
    ['another agency', 'key', { agencies: refs('a2') }],
    ['an agency with the id of a company', 'key', { companies: refs('a1'), agencies: refs('c1', 'c2') }],
  ])('differs for %s', (...[, key, parts]) => expect(scopeIdOf(key, { ...sight, ...parts })).not.toBe(id))
})

describe('the scope of a run', () => {
  const record = (runId: string, parts: Partial<KeySight> = {}, apiKeyId = 'key') =>
    recordKeyScope(bench.engine, { runId, apiKeyId, sight: { ...sight, ...parts }, observedAt: hour(5) })
  const scopes = async () =>
    Object.fromEntries(
      (await bench.rows('select run_id, scope_id from ops.key_scope')).map(row => [row.run_id, row.scope_id]),
    )
  const known = scopeIdOf('key', sight)
  const narrower = { companies: refs('c1') }

  test('is recorded with its lists, sorted', async () => {
    await record('run-1', { companies: refs('c2', 'c1', 'c2') })
    expect(await bench.rows('select * from ops.key_scope')).toEqual([
      {
        ...{ run_id: 'run-1', scope_id: known, api_key_id: 'key', kind: 'company', companies: '["c1","c2"]' },
        ...{ agencies: '["a1"]', scopes: '["read","write"]', observed_at: hour(5) },
      },
    ])
  })

  test('leaves the last run of the key as it is while the scope stays the same', async () => {
    await bench.insert('ops.key_scope', keyScope('run-1', known))
    await record('run-2')
    expect(await scopes()).toEqual({ 'run-1': known, 'run-2': known })
  })

  test('unsettles the last run of the key when it differs, and only that', async () => {
    await bench.insert(
      'ops.key_scope',
      ...[
        keyScope('run-1', known, { observed_at: hour(1) }),
        keyScope('run-2', known, { observed_at: hour(3) }),
      ],
      ...[
        keyScope('run-3', known, { observed_at: hour(2) }),
        keyScope('run-4', known, { observed_at: hour(4), api_key_id: 'x' }),
      ],
    )
    await record('run-9', narrower)
    const settled = { 'run-1': known, 'run-3': known, 'run-4': known }
    expect(await scopes()).toEqual({
      ...settled,
      'run-2': unsettled,
      'run-9': scopeIdOf('key', { ...sight, ...narrower }),
    })
  })

  test('regards the later run as the last of two that began at one time', async () => {
    await bench.insert('ops.key_scope', ...['run-2', 'run-3', 'run-1'].map(run => keyScope(run, known)))
    await record('run-9', narrower)
    expect(await scopes()).toMatchObject({ 'run-1': known, 'run-2': known, 'run-3': unsettled })
  })

  test('is recorded once, whatever the key sees later in the run', async () => {
    await record('run-1')
    await record('run-1', narrower)
    expect(await scopes()).toEqual({ 'run-1': known })
  })
})

describe('an earlier run saw all that the key sees now', () => {
  const row = { companies: '["c1","c2"]', agencies: '["a1","a2"]' }
  test.each<[string, Partial<KeySight>, boolean]>([
    ['when the lists are the same', { agencies: refs('a1', 'a2') }, true],
    ['when it saw more', {}, true],
    ['when permissions differ', { scopes: ['other'] }, true],
    ['not with a new company', { companies: refs('c1', 'c3') }, false],
    ['not with a new agency', { agencies: refs('a3') }, false],
    ['not as another kind of key', { kind: 'agency' }, false],
  ])('%s', async (...[, parts, sawAll]) => {
    await bench.insert(
      'ops.key_scope',
      keyScope('run-1', 's', row),
      keyScope('run-2', 's', { kind: 'agency' }),
    )
    expect(await sawAllOf(bench.engine, 'run-1', { ...sight, ...parts })).toBe(sawAll)
  })

  test('when its scope was not recorded', async () => {
    await bench.insert('ops.key_scope', keyScope('run-2', 's', { kind: 'agency' }))
    expect(await sawAllOf(bench.engine, 'run-1', sight)).toBe(true)
  })
})
