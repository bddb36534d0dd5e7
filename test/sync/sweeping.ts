/** A sandbox whose key can lose companies, and runs that sync and sweep it. */
import type { ApiKey } from '../../src/sandbox/keys/keys.ts'
import type { World } from '../../src/sandbox/world.ts'
import type { RunResult } from '../../src/sync/run/run.ts'
import type { FaultySandbox } from '../fault-layer/start.ts'
import { type OpenOptions, openSandbox } from '../sandbox/open-sandbox.ts'
import { type Overrides, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'

export const lists = ['timesheets', 'expenses'] as const
export type SweptName = (typeof lists)[number]

type Changeable = { -readonly [Name in keyof ApiKey]: ApiKey[Name] }

export interface Swept {
  readonly world: World
  readonly url: string
  /** A key that sees the same, with which the test looks at the service itself. */
  readonly visitor: string
  /** Every request that arrived, with the fault that spoiled its answer. */
  readonly requests: FaultySandbox['requests']
  /** Changes what the key may see from the next request on. */
  allow(change: Partial<ApiKey>): void
  sync(warehouse: Warehouse, overrides?: Overrides): Promise<RunResult>
  sweep(warehouse: Warehouse, overrides?: Overrides): Promise<RunResult>
  /** From now on every answer is right. */
  calm(): void
  close(): Promise<void>
}

export async function openSwept(options: OpenOptions): Promise<Swept> {
  const key: Changeable = { key: 'sweeping-key', kind: 'company' }
  const visitor: Changeable = { key: 'visiting-key', kind: 'company' }
  const sandbox = await openSandbox({ rateLimitPerDay: 10_000_000, ...options, keys: [key, visitor] })
  const connection = { apiKey: key.key }
  return {
    world: sandbox.world,
    url: sandbox.url,
    visitor: visitor.key,
    requests: sandbox.requests,
    close: sandbox.close,
    calm: () => sandbox.faults.stop(),
    allow: change => {
      for (const one of [key, visitor]) Object.assign(one, change)
      // What a key sees of an unchanged list is kept for it.
      for (const name of lists) {
        const record = sandbox.world.at(name, 0)
        if (record) sandbox.world.upsert(name, { ...record })
      }
    },
    sync: (warehouse, { request, connection: changed, ...rest } = {}) =>
      syncOnce(sandbox, warehouse, {
        connection: { ...connection, ...changed },
        request: { resources: ['key', ...lists], ...request },
        ...rest,
      }),
    sweep: (warehouse, { request, connection: changed, ...rest } = {}) =>
      syncOnce(sandbox, warehouse, {
        connection: { ...connection, ...changed },
        request: { command: 'sweep', resources: lists, sweep: {}, ...request },
        ...rest,
      }),
  }
}

/** Ids of what is tombstoned. */
export async function deleted({ engine }: Warehouse): Promise<string[]> {
  const rows = await engine.rows<{ id: string }>(
    `select timesheet_id as id from star.fact_timesheet where is_deleted union all
     select expense_id from star.fact_expense where is_deleted order by 1`,
  )
  return rows.map(({ id }) => id)
}
