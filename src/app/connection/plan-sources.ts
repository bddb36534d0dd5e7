/** Gathers the facts of a plan: from the service or, with --offline, from what earlier runs recorded. */

import { spendablePerDay } from '../../api/budget/day.ts'
import type { KeyInfo } from '../../api/client/key.ts'
import type { Connection } from '../../config/connection.ts'
import type { Clock } from '../../lib/clock.ts'
import { utcDay } from '../../lib/dates.ts'
import { MusterError } from '../../lib/errors.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { budgetSeen } from '../../state/requests/key-state.ts'
import type { Limits } from '../../sync/plan/estimate.ts'
import type { PlanSources } from '../../sync/plan/outlook.ts'
import { apiKeyId } from '../../sync/run/key.ts'
import type { Engine } from '../../warehouse/engine.ts'
import type { RuntimeContext } from '../runtime-context.ts'
import { openAdHocClient } from './ad-hoc-client.ts'

export interface PlanFacts {
  readonly sources: PlanSources
  readonly limits: Limits
  /** Requests spent so far. */
  spent(): number
  close(): Promise<void>
}

async function synced(engine: Engine | undefined): Promise<Engine | undefined> {
  if (!engine) return undefined
  return (await existingTables(engine)).has('watermark') ? engine : undefined
}

export async function askedFacts(
  connection: Connection,
  surroundings: RuntimeContext,
  engine: Engine | undefined,
): Promise<PlanFacts> {
  const { client, close } = await openAdHocClient(connection, surroundings, engine)
  try {
    const key = await client.getMe()
    const { perMinute, perDay, spendable } = client.usage()
    return {
      sources: { engine: await synced(engine), client, clock: surroundings.clock, key },
      limits: { perMinute, spendableToday: spendable, spendablePerDay: spendablePerDay(perDay) },
      spent: () => client.usage().requestsThisRun,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function rememberedKey(engine: Engine, id: string): Promise<Pick<KeyInfo, 'kind' | 'companies'>> {
  const companies = await engine.rows<{ id: string }>(
    `select distinct company_id as id from star.bridge_api_key_company
     where api_key_id = $1 and not is_deleted order by id`,
    [id],
  )
  const agencies = await engine.rows(
    'select 1 as present from star.bridge_api_key_agency where api_key_id = $1 and not is_deleted limit 1',
    [id],
  )
  return {
    kind: agencies.length > 0 ? 'agency' : 'company',
    companies: companies.map(company => ({ ...company, name: '' })),
  }
}

/** Throws MusterError when no sync has recorded the key and its limits. */
export async function rememberedFacts(
  connection: Connection,
  { clock }: { readonly clock: Clock },
  file: Engine | undefined,
): Promise<PlanFacts> {
  const engine = await synced(file)
  const id = apiKeyId(connection.apiKey.reveal())
  const seen = engine && (await budgetSeen(engine, id))
  if (!engine || !seen) {
    throw new MusterError({
      what: 'nothing is known about this key yet',
      next: 'leave out --offline: the plan then costs a few requests',
    })
  }
  const perDay = spendablePerDay(seen.perDay ?? 0)
  const today = utcDay(clock.now())
  const reserved = (seen.perDay ?? 0) - perDay
  const isToday = seen.observedAt?.startsWith(today) === true && seen.remainingToday !== null
  const spendableToday = isToday ? Math.max(0, (seen.remainingToday ?? 0) - reserved) : perDay
  return {
    sources: { engine, client: undefined, clock, key: await rememberedKey(engine, id) },
    limits: { perMinute: seen.perMinute ?? 1, spendableToday, spendablePerDay: perDay },
    spent: () => 0,
    close: async () => undefined,
  }
}
