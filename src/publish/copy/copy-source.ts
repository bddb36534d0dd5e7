/** Opens a warehouse to be copied, so that the stage of the target can read its rows. */

import { existingTables } from '../../state/existing-tables.ts'
import { holdOffErasing } from '../../state/privacy/forgotten.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openDuckdb, openPostgres } from '../../warehouse/on-demand.ts'
import type { PostgresOptions } from '../../warehouse/postgres/open.ts'
import type { Address } from '../../warehouse/postgres/session.ts'
import { quoteNames, quoteText } from '../../warehouse/sql-text.ts'
import { type CopySource, patient } from './copy.ts'

/** The stage itself opens the file, so that no other process can write it meanwhile. */
export async function fileSource(
  file: string,
  target: Engine,
): Promise<CopySource & { close(): Promise<void> }> {
  // Opened once on its own for clear messages when it is locked, damaged or missing.
  await (await openDuckdb(file, { readOnly: true })).close()
  const { stage } = target
  await stage.run(`attach ${quoteText(file)} as copied (read_only)`)
  const within = (sql: string): string => sql.replace(/\b(star|pii|history|ops)\./g, 'copied.$1.')
  const engine: Engine = {
    ...stage,
    location: file,
    cacheKey: {},
    schema: name => name,
    rows: (sql, values) => stage.rows(within(sql), values),
  }
  const source: CopySource = {
    engine,
    async isMade() {
      const made = await stage.rows(
        `select 1 from duckdb_tables() where database_name = 'copied' and schema_name = 'ops' and table_name = 'migration'`,
      )
      return made.length > 0
    },
    present: async table => within(table),
    // No other process writes the file while it is open.
    atOneMoment: work => work(source),
  }
  return {
    ...source,
    close: async () => {
      await stage.run('detach copied')
    },
  }
}

const sourceOn = (engine: Engine): CopySource => ({
  engine,
  isMade: async () => (await existingTables(engine)).has('migration'),
  async present(table, columns) {
    const names = quoteNames(columns.map(({ name }) => name))
    await engine.sendToStage('copied_rows', columns, `select ${names} from ${table}`)
    return 'copied_rows'
  },
  async atOneMoment(work) {
    const there = await existingTables(engine)
    return engine.atOneMoment(async engine => {
      if (there.has('forgotten')) await holdOffErasing(engine)
      await engine.run(patient)
      return work(sourceOn(engine))
    })
  },
})

export async function serverSource(
  address: Address,
  options: PostgresOptions,
  target: Engine,
): Promise<CopySource & { close(): Promise<void> }> {
  const engine = await openPostgres(address, { ...options, stage: target.stage })
  return { ...sourceOn(engine), close: () => engine.close() }
}
