/** What records say of the members they name: one row a member, made where the stage is. */
import { storedTypes } from '../column-type.ts'
import type { SharedColumn } from '../engine.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import { memberAttribute } from '../stage/plan.ts'
import { type NamedDimension, saidAts } from './member-places.ts'

export const memberTableName = 'member'

/** A reference to a member beside what it says of it, and when: one row a staged row that is taken. */
function mentions({ naming, places }: NamedDimension, words: readonly string[]): string[] {
  return naming.references.map(({ stage, column, given }) => {
    const word = (name: string): string => `s.${quoteName(memberAttribute(column, name))}`
    const said = saidAts.map(at => {
      const attributes = places.find(({ saidAt }) => saidAt === at)?.attributes ?? []
      const present = attributes.filter(name => given.has(name)).map(name => `${word(name)} is not null`)
      return `${present.length === 0 ? 'null' : `case when ${present.join(' or ')} then d.source_updated_at end`} as ${at}`
    })
    const columns = [
      `${quoteText(naming.name)} as dimension`,
      `s.${quoteName(column)} as member_id`,
      ...words.map(name => `${given.has(name) ? word(name) : 'null'} as ${quoteName(name)}`),
      ...['source_updated_at', 'loaded_at', 'run_id'].map(name => `d.${name}`),
      ...said,
    ]
    return `select ${columns.join(', ')} from ${stage} s join arriving d on d.locator = s.locator
      where s.${quoteName(column)} <> '-1'`
  })
}

/**
 * Creates the members that the records name, one row each, where the stage is: of each attribute what the newest record that
 * has it says, and of equals the greatest, so that neither the order of the records nor the cut between two batches plays
 * a part. Equal mentions are one before they are compared: a struct compares field by field, which costs more.
 */
export function memberTable(steps: readonly NamedDimension[], words: readonly string[]): string {
  const names = words.map(name => quoteName(name))
  const newest = names.map(name => `arg_max(${name}, {t: said_at, v: ${name}}) as ${name}`)
  const said = saidAts.map(at => `max(${at}) as ${at}`)
  return `create or replace temp table ${memberTableName} as
    select * exclude (latest), latest.l as loaded_at, latest.r as run_id from (
      select ${['dimension', 'member_id', 'max({t: said_at, l: loaded_at, r: run_id}) as latest', ...newest, ...said].join(', ')}
      from (
        select ${['dimension', 'member_id', ...names, 'loaded_at', 'run_id'].join(', ')},
          coalesce(max(source_updated_at), timestamptz '0001-01-01') as said_at, ${said.join(', ')}
        from (${steps.flatMap(step => mentions(step, words)).join(' union all ')}) group by all
      ) group by dimension, member_id)`
}

/** Attributes of one name are of one type in all dimensions. */
function typeOf(steps: readonly NamedDimension[], word: string): string {
  const columns = steps.flatMap(({ naming }) => naming.dimension.columns[word] ?? [])
  return storedTypes[columns[0]?.type ?? 'text'].sql
}

export const memberColumns = (steps: readonly NamedDimension[], words: readonly string[]): SharedColumn[] => [
  ...['dimension', 'member_id'].map(name => ({ name, sql: 'text' })),
  ...words.map(name => ({ name, sql: typeOf(steps, name) })),
  ...saidAts.map(name => ({ name, sql: 'timestamptz' })),
  { name: 'loaded_at', sql: 'timestamptz' },
  { name: 'run_id', sql: 'text' },
]
