/** Names of what groups are made of, from the warehouse. */
import type { Engine } from '../warehouse/engine.ts'
import type { Names } from './group-shape.ts'

async function namesOf(engine: Pick<Engine, 'rows'>, key: keyof Names): Promise<ReadonlyMap<string, string>> {
  const rows = await engine.rows<{ id: string; name: string | null }>(
    `select ${key}_id as id, name from star.dim_${key} where ${key}_id <> '-1'`,
  )
  return new Map(rows.map(({ id, name }) => [id, name ?? id]))
}

export async function readNames(engine: Pick<Engine, 'rows'>): Promise<Names> {
  return {
    company: await namesOf(engine, 'company'),
    project: await namesOf(engine, 'project'),
    agency: await namesOf(engine, 'agency'),
  }
}
