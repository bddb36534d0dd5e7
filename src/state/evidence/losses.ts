/** Marks records that were lost here, or whose stored version is wrong, so that the next sync reads them. */
import type { Resource } from '../../contract/fields/resource.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { signal } from '../by-id/discovered.ts'
import { noteUnreadRecords, type UnreadRecord } from '../scans/sweeps.ts'

/** Clears the row hash: it then matches no version, so the next read replaces the row with all its lists. */
async function distrust(engine: Engine, { table }: Resource, ids: readonly string[]): Promise<void> {
  await engine.run(
    `update star.${quoteName(table.name)} set row_hash = '' where ${quoteName(table.key)} in (${ids.map(quoteText).join(', ')})`,
  )
}

export async function noteLosses(
  engine: Engine,
  { resource, records }: { readonly resource: Resource; readonly records: readonly UnreadRecord[] },
  at: string,
): Promise<void> {
  if (records.length === 0) return
  await engine.transaction(async engine => {
    await distrust(
      engine,
      resource,
      records.map(({ id }) => id),
    )
    if (resource.read.strategy === 'byId') {
      const source = 'the crosscheck'
      await signal(
        engine,
        records.map(({ id }) => ({ resource: resource.name, recordId: id, source, at })),
      )
    } else await noteUnreadRecords(engine, resource.name, { records, at })
  })
}
