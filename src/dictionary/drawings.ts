/** Decides what the drawings show: a subject area with its dimensions, and the lineage of a mart. */
import { counted } from '../lib/counted.ts'
import { type Area, type ColumnEntry, type Dictionary, qualifiedName, type TableEntry } from './entries.ts'
import type { BoxLink, Drawing, TableBox } from './layout.ts'

type Tables = ReadonlyMap<string, TableEntry>

/** The key first, then references. */
function shownColumns({ columns }: TableEntry, role: TableBox['role'], owner?: string): ColumnEntry[] {
  const isShown = ({ name, isKey, refersTo }: ColumnEntry): boolean =>
    isKey || (role !== 'dimension' && (refersTo !== undefined || name === owner))
  return columns.filter(isShown).toSorted((one, other) => Number(other.isKey) - Number(one.isKey))
}

interface ShownTable {
  readonly table: TableEntry
  readonly role: TableBox['role']
  /** Column that names the record which its rows belong to. */
  readonly owner?: string | undefined
}

/** The footer counts the columns that are not shown. */
function boxOf({ table, role, owner }: ShownTable, id = qualifiedName(table)): TableBox {
  const own = table.columns.filter(({ isOfEveryRow }) => !isOfEveryRow)
  const shown = shownColumns(table, role, owner)
  const more = own.length - shown.length
  return {
    id,
    title: table.name,
    href: qualifiedName(table),
    rows: shown.map(({ name, isKey }) => ({ text: name, isKey })),
    ...(more > 0 && { footer: `+ ${counted(more, 'column')}` }),
    role,
  }
}

/** A dimension has its own box on each side, so that no line crosses a box. */
const sideId = (side: 'left' | 'right', table: string): string => `${side} ${table}`

function referencesOf({ table, role, owner }: ShownTable): { row: number; name: string; table?: string }[] {
  return shownColumns(table, role, owner).map(({ name, refersTo }, row) => ({
    row,
    name,
    ...(refersTo && { table: refersTo.table }),
  }))
}

interface Side {
  readonly side: 'left' | 'right'
  readonly sources: readonly ShownTable[]
  readonly inside: ReadonlySet<string>
  readonly tables: Tables
}

/** Boxes for tables outside the area that the sources refer to, and the links to them. */
function aside({ side, sources, inside, tables }: Side): { boxes: TableBox[]; links: BoxLink[] } {
  const links: BoxLink[] = sources.flatMap(source =>
    referencesOf(source).flatMap(({ row, table }) =>
      table === undefined || inside.has(table)
        ? []
        : [{ from: qualifiedName(source.table), row, to: sideId(side, table) }],
    ),
  )
  const ids = new Map(links.map(({ to }) => [to, to.slice(side.length + 1)]))
  const boxes = [...ids].flatMap(([id, name]) => {
    const table = tables.get(name)
    return table ? [boxOf({ table, role: 'dimension' }, id)] : []
  })
  return { boxes, links }
}

export function areaDrawing({ tables: all }: Dictionary, area: Area): Drawing {
  const tables: Tables = new Map(all.map(table => [qualifiedName(table), table]))
  const [first, ...rest] = area.tables.flatMap(name => tables.get(name) ?? [])
  if (!first) throw new Error(`${area.resource} has no table`)
  const root: ShownTable = { table: first, role: 'subject' }
  const lists = rest.map(
    (table): ShownTable => ({ table, role: 'list', owner: area.owners.get(qualifiedName(table)) }),
  )
  const inside = new Set(area.tables)
  const left = aside({ side: 'left', sources: lists, inside, tables })
  const right = aside({ side: 'right', sources: [root], inside, tables })
  const owned: BoxLink[] = lists.flatMap(list =>
    referencesOf(list)
      .filter(({ name }) => name === list.owner)
      .map(({ row }) => ({ from: qualifiedName(list.table), row, to: qualifiedName(first) })),
  )
  return {
    columns: [left.boxes, lists.map(list => boxOf(list)), [boxOf(root)], right.boxes],
    links: [...left.links, ...owned, ...right.links],
  }
}

const bare = { rows: [] }

export function martDrawing({ tables, areas }: Dictionary, mart: TableEntry): Drawing {
  const read = tables.filter(table => mart.reads.includes(qualifiedName(table)))
  const name = qualifiedName(mart)
  const resources = areas.filter(({ resource }) => read.some(table => table.resources.includes(resource)))
  const links: BoxLink[] = [
    ...read.map(table => ({ from: qualifiedName(table), to: name })),
    ...read.flatMap(table => table.resources.map(from => ({ from, to: qualifiedName(table) }))),
  ]
  const columns: TableBox[][] = [
    resources.map(({ resource, path }) => ({ ...bare, id: resource, title: path, role: 'resource' })),
    read.map(table => ({
      ...bare,
      id: qualifiedName(table),
      title: qualifiedName(table),
      href: qualifiedName(table),
      role: table.name.startsWith('dim_') ? 'dimension' : 'list',
    })),
    [{ ...bare, id: name, title: name, href: name, role: 'mart' }],
  ]
  return { columns, links }
}
