/** All figures for a monitoring system in one statement: a scrape costs one round trip. */

import { utcDay } from '../../lib/dates.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { existingTables } from '../existing-tables.ts'
import { requireReadable } from '../recorded-structure.ts'
import { type Figure, figures } from './figures.ts'

export interface Reading {
  readonly figure: Figure
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface Row {
  readonly place: number
  readonly first: string | null
  readonly second: string | null
  readonly value: number | string | null
}

const labelOf = (name: string | undefined): string =>
  `cast(${name === undefined ? 'null' : quoteName(name)} as text)`

const statement = figures
  .map(
    ({ labels: [one, two], select }, place) =>
      `select ${place} as place, ${labelOf(one)} as first, ${labelOf(two)} as second,
         cast(value as double precision) as value from (${select}) as f${place}`,
  )
  .join('\nunion all\n')
  .concat('\norder by 1, 2, 3')

function readingOf({ place, first, second, value }: Row): Reading[] {
  const figure = figures[Number(place)]
  if (!figure || value === null) return []
  const texts = [first, second]
  const labels = Object.fromEntries(figure.labels.map((name, index) => [name, texts[index] ?? '']))
  return [{ figure, labels, value: Number(value) }]
}

/** Undefined where no sync has written, and for a published copy. `now` in milliseconds since the epoch. */
export async function readFigures(
  engine: Pick<Engine, 'rows' | 'schema' | 'cacheKey'>,
  now: number,
): Promise<readonly Reading[] | undefined> {
  const tables = await existingTables(engine)
  if (!(tables.has('migration') && tables.has('sent') && tables.has('dag_run'))) return undefined
  await requireReadable(engine)
  const rows = await engine.rows<Row>(statement, [
    new Date(now).toISOString(),
    utcDay(now),
    Math.floor(now / 1000) - 60,
  ])
  return rows.flatMap(readingOf)
}
