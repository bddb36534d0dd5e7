/** The diagram of one subject area: a record, its lists, and the dimensions that they refer to. */
import type { Box, Drawing, Link } from './drawing.ts'
import { type Area, type ColumnEntry, type Dictionary, qualifiedName, type TableEntry } from './entries.ts'

type Tables = ReadonlyMap<string, TableEntry>

const isShown = ({ isKey, refersTo }: ColumnEntry): boolean => isKey || refersTo !== undefined

/** Key first, then what refers to others; the rest is a number. */
function boxOf(table: TableEntry, role: Box['role'], id = qualifiedName(table)): Box {
  const own = table.columns.filter(({ isOfEveryRow }) => !isOfEveryRow)
  const shown = shownColumns(table, role)
  const more = own.length - shown.length
  return {
    id,
    title: table.name,
    href: qualifiedName(table),
    rows: shown.map(({ name, isKey }) => ({ text: name, isKey })),
    ...(more > 0 && { footer: `+ ${more} column${more === 1 ? '' : 's'}` }),
    role,
  }
}

function shownColumns({ columns }: TableEntry, role: Box['role']): ColumnEntry[] {
  const shown = columns.filter(column => (role === 'dimension' ? column.isKey : isShown(column)))
  return shown.toSorted((one, other) => Number(other.isKey) - Number(one.isKey))
}

/** One box a dimension on each side, so that no line has to cross a box. */
const sideId = (side: 'left' | 'right', table: string): string => `${side} ${table}`

function referencesOf(table: TableEntry, role: Box['role']): { row: number; table: string }[] {
  return shownColumns(table, role).flatMap(({ refersTo }, row) =>
    refersTo ? [{ row, table: refersTo.table }] : [],
  )
}

interface Side {
  readonly side: 'left' | 'right'
  readonly sources: readonly TableEntry[]
  readonly inside: ReadonlySet<string>
  readonly tables: Tables
}

/** Boxes for what the sources refer to outside of the area, and the links to them. */
function aside({ side, sources, inside, tables }: Side): { boxes: Box[]; links: Link[] } {
  const links: Link[] = sources.flatMap(source =>
    referencesOf(source, 'list')
      .filter(({ table }) => !inside.has(table))
      .map(({ row, table }) => ({ from: qualifiedName(source), row, to: sideId(side, table) })),
  )
  const ids = new Map(links.map(({ to }) => [to, to.slice(side.length + 1)]))
  const boxes = [...ids].flatMap(([id, name]) => {
    const table = tables.get(name)
    return table ? [boxOf(table, 'dimension', id)] : []
  })
  return { boxes, links }
}

export function areaDrawing({ tables: all }: Dictionary, area: Area): Drawing {
  const tables: Tables = new Map(all.map(table => [qualifiedName(table), table]))
  const [root, ...lists] = area.tables.flatMap(name => tables.get(name) ?? [])
  if (!root) throw new Error(`${area.resource} has no table`)
  const inside = new Set(area.tables)
  const left = aside({ side: 'left', sources: lists, inside, tables })
  const right = aside({ side: 'right', sources: [root], inside, tables })
  const owned: Link[] = lists.flatMap(list =>
    referencesOf(list, 'list')
      .filter(({ table }) => table === qualifiedName(root))
      .map(({ row }) => ({ from: qualifiedName(list), row, to: qualifiedName(root) })),
  )
  return {
    columns: [left.boxes, lists.map(list => boxOf(list, 'list')), [boxOf(root, 'subject')], right.boxes],
    links: [...left.links, ...owned, ...right.links],
    anchor: 2,
  }
}
