/** Provides rows of the catalogue for `sql/`: a line below `-- For each resource:` is repeated for each of them. */
import { catalogue } from '../catalogue.ts'
import type { Resource } from '../fields/resource.ts'
import { tablesOf } from '../fields/table.ts'
import { edges } from './discovery.ts'

/** Values for the names in braces. */
export type SqlRow = Readonly<Record<string, string | boolean>>

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

const isDimension = ({ table }: Resource): boolean => table.name.startsWith('dim_')

/** When a record was created at the source, by the clock of the service. */
const createdAt = ({ table }: Resource): string =>
  Object.entries(table.columns).find(
    ([, { source }]) => source.from === 'field' && source.path.join('.') === 'createdAt',
  )?.[0] ?? 'cast(null as timestamptz)'

/** Dimensions have inferred members, and the member '-1' for a missing reference. A record inside another one was read with it. */
export function isInferred({ name, table }: Pick<Resource, 'name' | 'table'>): string {
  if (!table.name.startsWith('dim_')) return 'false'
  const included = [
    ...new Set(
      edges.company
        .filter(edge => edge.brings && edge.resource === name)
        .map(edge => `(select ${edge.column} from star.${edge.table} where not is_deleted)`),
    ),
  ]
  return ['is_inferred', ...included.map(ids => `${table.key} not in ${ids}`)].join(' and ')
}

function resourceRow(resource: Resource): SqlRow {
  const { name, table, read, metric = '' } = resource
  return {
    resource: quoted(name),
    table: `star.${table.name}`,
    table_name: quoted(`star.${table.name}`),
    is_inferred: isInferred(resource),
    is_record: isDimension(resource) ? `${table.key} <> '-1'` : true,
    created_at: createdAt(resource),
    metric: quoted(metric),
    // Later scans ask for changes only, so the total is the one that the backfill saw.
    is_total_of_backfill: read.strategy === 'scan' && read.changedSince !== undefined,
    // Date windows overlap and move, so their totals do not add up.
    is_total_of_snapshots: read.strategy === 'snapshot' && read.per !== 'companyWindow',
  }
}

const isReadById = ({ read, keys }: Resource): boolean =>
  read.strategy === 'byId' || Object.values(keys).includes('by id')

/** All members of the dimension are expected: a record that only other records name should be read too. */
function expectedOf(resource: Resource): string | undefined {
  const { table, expected } = resource
  if (expected !== undefined || !isReadById(resource) || !isDimension(resource)) return expected
  return `select ${table.key} from star.${table.name} where ${table.key} <> '-1' and (is_inferred or not is_deleted)`
}

/** Each table once, even if several lists of a record fill it. */
const tableRows = ({ name, table }: Resource): SqlRow[] =>
  [...new Set(tablesOf(table).map(one => `star.${one.name}`))].map(one => ({
    resource: quoted(name),
    table_name: quoted(one),
  }))

const rows: Readonly<Record<string, () => readonly SqlRow[]>> = {
  resource: () => catalogue.map(resourceRow),
  'table of a resource': () => catalogue.flatMap(tableRows),
  'resource with expected records': () =>
    catalogue.flatMap(resource => {
      const expected = expectedOf(resource)
      return expected === undefined
        ? []
        : [{ ...resourceRow(resource), expected: expected.replace(/\s+/g, ' ') }]
    }),
}

/** Throws an Error for rows that the catalogue does not have. */
export function sqlRows(name: string): readonly SqlRow[] {
  const found = rows[name]
  if (!found) throw new Error(`"For each ${name}" in sql/: write ${Object.keys(rows).join(', or ')}`)
  return found()
}

/** Tables of star with the records of each resource. */
export const recordTables = (): string[] => catalogue.map(({ table }) => `star.${table.name}`)
