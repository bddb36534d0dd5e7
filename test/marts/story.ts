/** Records that tests tell by hand, put into star as a sync would leave them, on 2 November 2026. */
import type { Engine } from '../../src/warehouse/engine.ts'

export const today = '2026-11-02'
export const now = '2026-11-02T02:30:00.000Z'
const yesterday = '2026-11-01T02:30:00.000Z'

export type Row = Readonly<Record<string, string | number | boolean | null>>

/** Rows by table, with its schema. */
export type Story = Readonly<Record<string, readonly Row[]>>

function literal(value: Row[string]): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

/** But for by whom they were read. */
export async function tellStory(engine: Engine, story: Story): Promise<void> {
  for (const [table, rows] of Object.entries(story)) {
    for (const row of rows) {
      const all: Row = table.startsWith('ops.')
        ? row
        : { is_deleted: false, first_loaded_at: yesterday, loaded_at: yesterday, ...row }
      const values = Object.values(all).map(literal).join(', ')
      await engine.run(`insert into ${table} (${Object.keys(all).join(', ')}) values (${values})`)
    }
  }
}
