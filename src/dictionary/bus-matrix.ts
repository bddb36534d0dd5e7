/** Builds the bus matrix of the star: which facts can be analysed by which dimensions. */
import { type Dictionary, qualifiedName, type TableEntry } from './entries.ts'

/** `direct`: a column of the fact; `through`: a column of the record that its rows belong to. */
export type DimensionReach = 'direct' | 'through' | 'none'

export interface BusMatrix {
  /** Qualified names, the dimension of most facts first. */
  readonly dimensions: readonly string[]
  readonly facts: readonly { readonly table: string; readonly reach: readonly DimensionReach[] }[]
}

const isFact = ({ schema, name, kind }: TableEntry): boolean =>
  schema === 'star' && kind === 'table' && name.startsWith('fact_')

/** Dates are joined by their day, weeks by their last day; neither is declared as a reference. */
function calendars({ columns }: TableEntry): string[] {
  const own = columns.filter(({ isOfEveryRow }) => !isOfEveryRow)
  return [
    ...(own.some(({ type }) => type === 'date') ? ['star.dim_date'] : []),
    ...(own.some(({ name }) => name === 'week_ending_date') ? ['star.dim_week'] : []),
  ]
}

const targets = ({ columns }: TableEntry): string[] =>
  columns.flatMap(({ refersTo }) => refersTo?.table ?? [])

const directly = (table: TableEntry): Set<string> =>
  new Set([...targets(table), ...calendars(table)].filter(name => name.startsWith('star.dim_')))

export function busMatrix({ tables }: Dictionary): BusMatrix {
  const byName = new Map(tables.map(table => [qualifiedName(table), table]))
  const reached = tables.filter(isFact).map(table => {
    const heads = targets(table)
      .filter(name => /^star\.(fact|bridge)_/.test(name))
      .flatMap(name => byName.get(name) ?? [])
    return {
      table: qualifiedName(table),
      direct: directly(table),
      through: new Set(heads.flatMap(head => [...directly(head)])),
    }
  })
  const counts = new Map<string, number>()
  for (const { direct, through } of reached)
    for (const name of new Set([...direct, ...through])) counts.set(name, (counts.get(name) ?? 0) + 1)
  const dimensions = [...counts.keys()].sort(
    (one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0) || (one < other ? -1 : 1),
  )
  const facts = reached.map(({ table, direct, through }) => ({
    table,
    reach: dimensions.map((name): DimensionReach => {
      if (direct.has(name)) return 'direct'
      return through.has(name) ? 'through' : 'none'
    }),
  }))
  return { dimensions, facts }
}
