/** The diagram of a mart's lineage: from the resources of the service over the tables that it reads to the mart. */

import { type Dictionary, qualifiedName, type TableEntry } from '../entries.ts'
import type { Box, Drawing, Link } from './drawing.ts'

const bare = { rows: [] }

export function martDrawing({ tables, areas }: Dictionary, mart: TableEntry): Drawing {
  const read = tables.filter(table => mart.reads.includes(qualifiedName(table)))
  const name = qualifiedName(mart)
  const resources = areas.filter(({ resource }) => read.some(table => table.resources.includes(resource)))
  const links: Link[] = [
    ...read.map(table => ({ from: qualifiedName(table), to: name })),
    ...read.flatMap(table => table.resources.map(from => ({ from, to: qualifiedName(table) }))),
  ]
  const columns: Box[][] = [
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
  return { columns, links, anchor: 2 }
}
