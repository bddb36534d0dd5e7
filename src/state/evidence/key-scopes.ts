/** Records what the key of each run could see: a record hidden from another or narrower key is not missing. */

import { createHash } from 'node:crypto'
import type { Engine } from '../../warehouse/engine.ts'
import { ledger } from '../ledger.ts'
import type { KeyScopeRow } from './tables.ts'

/** The parts of `/me` that decide which records a key sees. */
export interface KeySight {
  readonly kind: 'company' | 'agency'
  readonly scopes: readonly string[]
  readonly companies?: readonly { readonly id: string }[]
  readonly agencies?: readonly { readonly id: string }[]
}

const listed = (texts: readonly string[]): string => JSON.stringify([...new Set(texts)].sort())
const ids = (refs: readonly { readonly id: string }[] = []): string => listed(refs.map(({ id }) => id))

type ScopeLists = Pick<KeyScopeRow, 'kind' | 'companies' | 'agencies' | 'scopes'>

const listsOf = ({ kind, scopes, companies, agencies }: KeySight): ScopeLists => ({
  kind,
  companies: ids(companies),
  agencies: ids(agencies),
  scopes: listed(scopes),
})

const named = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)

/**
 * Hashes what a key sees: the id stays while the key and its lists do. Two keys with equal lists have different ids,
 * because the projects of their owners may differ, which the service does not show.
 */
export function scopeIdOf(apiKeyId: string, sight: KeySight): string {
  const { kind, companies, agencies, scopes } = listsOf(sight)
  return named([apiKeyId, kind, companies, agencies, scopes])
}

/** Scope id of a run during which the scope may have changed; its rows belong to no scope. */
export const unsettled = 'changed during the run'

export interface RunScope {
  readonly runId: string
  readonly apiKeyId: string
  readonly sight: KeySight
  /** ISO 8601. */
  readonly observedAt: string
}

/**
 * Records the scope of a run. If it differs from the key's previous run, it may have changed during that run, which
 * therefore no longer proves anything.
 */
export async function recordKeyScope(
  engine: Engine,
  { runId, apiKeyId, sight, observedAt }: RunScope,
): Promise<void> {
  const scopeId = scopeIdOf(apiKeyId, sight)
  const last = await ledger(engine)
    .selectFrom('ops.key_scope')
    .select(['run_id', 'scope_id'])
    .where('api_key_id', '=', apiKeyId)
    .orderBy('observed_at', 'desc')
    .orderBy('run_id', 'desc')
    .limit(1)
    .execute()
  for (const { run_id: before, scope_id: stored } of last) {
    if (stored === scopeId || before === runId) continue
    await ledger(engine)
      .updateTable('ops.key_scope')
      .set({ scope_id: unsettled })
      .where('run_id', '=', before)
      .execute()
  }
  await ledger(engine)
    .insertInto('ops.key_scope')
    .values({
      run_id: runId,
      scope_id: scopeId,
      api_key_id: apiKeyId,
      ...listsOf(sight),
      observed_at: observedAt,
    })
    .onConflict(conflict => conflict.doNothing())
    .execute()
}

/**
 * Whether a run could see all records that a key sees now, judged by the lists; true for a run without a recorded scope.
 * Permissions do not count: they open further resources, not more records of one.
 */
export async function sawAllOf(engine: Engine, runId: string, now: KeySight): Promise<boolean> {
  const [stored] = await ledger(engine)
    .selectFrom('ops.key_scope')
    .select(['kind', 'companies', 'agencies'])
    .where('run_id', '=', runId)
    .execute()
  if (!stored) return true
  const lists = listsOf(now)
  const includes = (name: 'companies' | 'agencies'): boolean => {
    const theirs = new Set(JSON.parse(stored[name]) as string[])
    return (JSON.parse(lists[name]) as string[]).every(one => theirs.has(one))
  }
  return lists.kind === stored.kind && includes('companies') && includes('agencies')
}
