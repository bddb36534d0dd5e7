/** Opens a warehouse to be copied, so that the stage of the target can read its rows. */

import { existingTables } from '../../state/existing-tables.ts'
import { openDuckdb } from '../../warehouse/duckdb/open.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { openPostgres, type PostgresOptions } from '../../warehouse/postgres/open.ts'
import type { Address } from '../../warehouse/postgres/session.ts'
import { quoteNames, quoteText } from '../../warehouse/sql-text.ts'
import { type CopySource, patient } from './copy.ts'

/** The file is opened by the stage itself, so nobody else writes it meanwhile. */
export async function fileSource(
  file: string,
  target: Engine,
): Promise<CopySource & { close(): Promise<void> }> {
  // Opened once by itself for its messages: a file that is locked, damaged or none.
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
  atOneMoment: work =>
    engine.atOneMoment(async engine => {
      await engine.run(patient)
      return work(sourceOn(engine))
    }),
})

export async function serverSource(
  address: Address,
  options: PostgresOptions,
  target: Engine,
): Promise<CopySource & { close(): Promise<void> }> {
  const engine = await openPostgres(address, { ...options, stage: target.stage })
  return { ...sourceOn(engine), close: () => engine.close() }
}
