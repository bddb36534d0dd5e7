/** Creates schemas for one job; if the process is killed, the next one that opens the warehouse drops them. */
import { randomBytes } from 'node:crypto'
import type { Engine } from '../engine.ts'
import { schemaNames } from '../schema/schemas.ts'
import { quoteName, quoteText } from '../sql-text.ts'

export interface TemporarySchemas {
  /** Prefix of each name. */
  readonly prefix: string
  drop(): Promise<void>
}

/** Start of each schema's comment; the announced name of its owner follows. */
const label = 'temporary schema of muster, '

const drop = async (engine: Engine, names: readonly string[]): Promise<void> => {
  for (const name of names) await engine.run(`drop schema if exists ${quoteName(name)} cascade`)
}

const prefixOf = (engine: Engine): string => engine.schema('star').slice(0, -'star'.length)

/**
 * Creates an empty set of the warehouse's schemas, with `purpose`, such as `replay`, and random letters in their names. They
 * belong to the session of `engine`: after it ends, the next process that opens the warehouse as their owner drops them.
 */
export async function temporarySchemas(engine: Engine, purpose: string): Promise<TemporarySchemas> {
  const prefix = `${prefixOf(engine)}${purpose}_${randomBytes(3).toString('hex')}_`
  const names = schemaNames.map(name => prefix + name)
  const holder = `schemas ${prefix}`
  await engine.announce(holder)
  await engine.transaction(async engine => {
    for (const name of names) {
      await engine.run(`create schema ${quoteName(name)}`)
      await engine.run(`comment on schema ${quoteName(name)} is ${quoteText(label + holder)}`)
    }
  })
  return { prefix, drop: () => drop(engine, names) }
}

/**
 * Drops the schemas of ended processes. Leaves alone those of other warehouses in the database, as only this warehouse's
 * processes are known, and those of other roles, which this one cannot drop.
 */
export async function dropLeftoverSchemas(engine: Engine): Promise<void> {
  const found = await engine.rows<{ name: string; comment: string }>(
    `select nspname::text as name, obj_description(oid, 'pg_namespace') as comment from pg_catalog.pg_namespace
     where starts_with(obj_description(oid, 'pg_namespace'), $1) and pg_has_role(nspowner, 'usage') order by 1`,
    [label],
  )
  const own = new RegExp(`^${prefixOf(engine)}[a-z]+_[0-9a-f]{6}_(${schemaNames.join('|')})$`)
  for (const { name, comment } of found.filter(({ name }) => own.test(name)))
    if (!(await engine.isPresent(comment.slice(label.length)))) await drop(engine, [name])
}
