/** What records say of the members they name: one row a member, made where the stage is. */

import type { TypedColumn } from '../../warehouse/engine.ts'
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { quoteName, quoteText } from '../../warehouse/sql-text.ts'
import { memberAttribute } from '../read/plan.ts'
import { type NamedDimension, saidAts } from './member-places.ts'

export const memberTableName = 'member'

/** What records say of members, whatever their dimension: attributes of one name are of one type in all of them. */
export function wordsOf(dimensions: readonly NamedDimension[]): TypedColumn[] {
  const words = dimensions.flatMap(({ naming: { dimension, attributes } }) =>
    attributes.map(name => [name, storedTypes[dimension.columns[name]?.type ?? 'text'].sql] as const),
  )
  return [...new Map(words)].map(([name, sql]) => ({ name, sql }))
}

/** References to members, each beside what it says of the member and where that belongs. */
function mentions({ naming, places }: NamedDimension, words: readonly TypedColumn[]): string[] {
  return naming.references.map(({ stage, column, given }) => {
    const word = (name: string): string => quoteName(memberAttribute(column, name))
    const belongs = places.map(({ saidAt, attributes }) => {
      const present = attributes.filter(name => given.has(name)).map(name => `${word(name)} is not null`)
      return [saidAt, present.length === 0 ? 'false' : present.join(' or ')] as const
    })
    const says = new Map(belongs)
    const columns = [
      `locator, ${quoteText(naming.name)} as dimension, ${quoteName(column)} as member_id`,
      ...words.map(({ name }) => `${given.has(name) ? word(name) : 'null'} as ${quoteName(name)}`),
      ...saidAts.map(at => `${says.get(at) ?? 'false'} as is_${at}`),
    ]
    return `select ${columns.join(', ')} from ${stage} where ${quoteName(column)} <> '-1'`
  })
}

/**
 * Creates the members that the records name, one row each, where the stage is: of each attribute what the newest record that
 * has it says, and of equals the greatest, so that neither the order of the records nor the cut between two batches plays
 * a part. Equal mentions are one before they are compared: a struct compares field by field, which costs more.
 */
export function memberTable(dimensions: readonly NamedDimension[], words: readonly TypedColumn[]): string {
  const names = words.map(({ name }) => quoteName(name))
  const newest = names.map(name => `arg_max(${name}, {t: said_at, v: ${name}}) as ${name}`)
  return `create or replace temp table ${memberTableName} as
    select * exclude (latest), latest.l as loaded_at, latest.r as run_id from (
      select ${['dimension', 'member_id', 'max({t: said_at, l: loaded_at, r: run_id}) as latest', ...newest].join(', ')},
        ${saidAts.map(at => `max(${at}) as ${at}`).join(', ')}
      from (
        select ${['dimension', 'member_id', ...names, 'd.loaded_at', 'd.run_id'].join(', ')},
          coalesce(max(d.source_updated_at), timestamptz '0001-01-01') as said_at,
          ${saidAts.map(at => `max(d.source_updated_at) filter (is_${at}) as ${at}`).join(', ')}
        from (${dimensions.flatMap(one => mentions(one, words)).join(' union all ')}) named
        join arriving d using (locator) group by all
      ) group by dimension, member_id)`
}

export const memberColumns = (words: readonly TypedColumn[]): TypedColumn[] => [
  ...['dimension', 'member_id'].map(name => ({ name, sql: 'text' })),
  ...words,
  ...[...saidAts, 'loaded_at'].map(name => ({ name, sql: 'timestamptz' })),
  { name: 'run_id', sql: 'text' },
]
