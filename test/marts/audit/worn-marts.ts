/** What becomes of the marts and the star before checks compare them: each state is one in which other checks have something to say. */
import { type Mart, type MartColumn, readMarts } from '../../../src/marts/mart.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { physicalTables } from '../../../src/warehouse/schema/physical.ts'
import { quoteName, quoteNames, quoteText } from '../../../src/warehouse/sql-text.ts'
import { drawn } from './worn-star.ts'

/** What takes the place of a value, by the upper end of what is drawn for it. */
function others({ type }: MartColumn, own: string): string {
  if (type === 'boolean') return `when draw < 200 then not ${own}`
  if (type === 'date') return `when draw < 160 then ${own} + (draw % 5 - 2)`
  if (!/^(numeric|integer|bigint|double)/.test(type)) return ''
  return `when draw < 120 then 0 when draw < 160 then ${own} + 1 when draw < 200 then ${own} - 1 when draw < 220 then -${own}`
}

function worn(column: MartColumn): string {
  const name = quoteName(column.name)
  const draw = drawn('mine.row_text', quoteText(column.name))
  const cases = `when draw < 30 then null when draw < 80 then other.${name} ${others(column, `mine.${name}`)}`
  return `case ${cases} else mine.${name} end as ${name}`.replaceAll(/\bdraw\b/g, draw)
}

async function wearMart(engine: Engine, { name, columns }: Mart): Promise<void> {
  const table = `mart.${quoteName(name)}`
  // Without the definition of the mart, which is other with each change of its text.
  const text = `cast(row(${quoteNames(columns.map(column => column.name))}) as text)`
  await engine.run(
    `create table mart.worn as
     with numbered as (
       select one.*, ${text} as row_text, row_number() over (order by ${text}) as place, count(*) over () as places
       from ${table} as one)
     select mine.* exclude (row_text, place, places) replace (${columns.map(worn).join(', ')})
     from numbered as mine inner join numbered as other on other.place = (mine.place * 7 + 3) % mine.places + 1`,
  )
  await engine.run(`drop table ${table}`)
  await engine.run(`alter table mart.worn rename to ${quoteName(name)}`)
}

const marts = readMarts().filter(({ dimensionOf }) => dimensionOf === undefined)

/** By name, what is done to a worn star and the marts of the star before it was worn. */
export const statesForChecks: Readonly<Record<string, (engine: Engine) => Promise<void>>> = {
  'worn marts': async engine => {
    for (const mart of marts) await wearMart(engine, mart)
  },
  'no marts': async engine => {
    for (const { name } of marts) await engine.run(`delete from mart.${quoteName(name)}`)
  },
  'no star': async engine => {
    for (const { schema, name } of physicalTables)
      if (schema === 'star') await engine.run(`delete from star.${quoteName(name)}`)
  },
}
