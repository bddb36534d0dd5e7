/** The merge of a load in memory, step by step as a load takes them, over tables for gauges and the members that they name. */
import { beforeAll } from 'vitest'
import type { Resource } from '../../../src/contract/fields/resource.ts'
import { applyMembers, arrivalsOf, retireReplaced } from '../../../src/load/merge/apply.ts'
import { type CompleteSnapshot, createDelta, type DeltaCounts } from '../../../src/load/merge/delta.ts'
import type { EmptyTables } from '../../../src/load/merge/empty-tables.ts'
import { createLedgerTable } from '../../../src/state/migrate.ts'
import { ledgerTables } from '../../../src/state/tables.ts'
import { physicalTables } from '../../../src/warehouse/schema/physical.ts'
import { createTable } from '../../../src/warehouse/schema/structure.ts'
import { createTables, gauges } from '../gauges.ts'
import { type RulesStage, rulesStage } from '../rules-stage.ts'

export interface MergeOptions {
  /** When the page was fetched, ISO 8601. */
  readonly at?: string
  readonly run?: string
  /** Further pages of the batch. */
  readonly later?: readonly { readonly at: string; readonly records: readonly object[] }[]
  readonly snapshot?: CompleteSnapshot
  readonly emptyTables?: EmptyTables
}

export interface RulesMerge extends RulesStage {
  merge(resource: Resource, records: readonly object[], options?: MergeOptions): Promise<DeltaCounts>
}

const shared = ['user', 'site', 'worker', 'tag'].flatMap(name => [`dim_${name}`, name, `${name}_history`])
const ofEveryResource = ['attribute_leaf', 'attribute_leaf_history', 'text', 'text_history']

export function rulesMerge(): RulesMerge {
  const stage = rulesStage()
  beforeAll(async () => {
    const { engine } = stage
    const schemas = ['star', 'pii', 'history', 'ops'].map(name => `create schema ${name}`)
    const tables = physicalTables.filter(({ name }) => [...shared, ...ofEveryResource].includes(name))
    const ledger = ledgerTables.filter(({ name }) => name === 'write_count')
    const statements = [
      ...schemas,
      ...tables.map(table => createTable(engine, table)),
      ...ledger.map(createLedgerTable),
    ]
    await engine.run(statements.join(';'))
    await createTables(engine, gauges.table)
  })
  return Object.assign(stage, {
    async merge(
      resource: Resource,
      records: readonly object[],
      { at, run, later, snapshot, emptyTables }: MergeOptions = {},
    ) {
      const { engine } = stage
      const asked = { ...(at && { fetchedAt: at }), ...(run && { runId: run }) }
      const pages = [
        stage.pageOf(records, asked),
        ...(later ?? []).map(one => stage.pageOf(one.records, { fetchedAt: one.at })),
      ]
      const { plan, filled } = await stage.stage(resource, pages)
      const counts = await createDelta(engine, resource, {
        records: engine.send([]),
        ...(snapshot && { snapshot }),
      })
      const merge = { counts, filled, emptyTables }
      const { items, members } = await arrivalsOf(engine, plan, merge)
      await retireReplaced(engine, plan, merge)
      await engine.receive(engine.send(items))
      await applyMembers(engine, members)
      return counts
    },
  })
}
