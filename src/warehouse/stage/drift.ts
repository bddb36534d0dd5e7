/** Fields and values that the declarations do not know. */
import { declaredPaths, openDocuments } from '../../resources/json-shape.ts'
import { quoteName, quoteText } from '../sql-text.ts'
import { shapePath } from './attribute-leaves.ts'
import { elements, type PageFile, type RowsAt } from './pages.ts'
import type { StagePlan } from './plan.ts'

/** Columns path and type: undeclared places of the records on these pages, not below a JSON column. */
export function unknownFields(plan: StagePlan, pages: readonly PageFile[], rows: RowsAt): string {
  const declared = declaredPaths(plan.shape).map(({ path }) => `(${quoteText(path)})`)
  const documents = openDocuments(plan.resource.table).map(
    ({ path }) => `and path <> ${quoteText(path)} and not starts_with(path, ${quoteText(`${path}.`)})`,
  )
  return `select path, max(type) as type from (
      select ${shapePath('substr(fullkey, 3)')} as path, type
      from (${elements(pages, rows)}), json_tree(j) where fullkey <> '$')
    where path not in (select d.path from (values ${declared.join(', ')}) d(path)) ${documents.join(' ')}
    group by path`
}

/** The shallowest of each branch: what lies below an unknown object is not news of its own. */
export function shallowest(paths: readonly string[]): string[] {
  const known = new Set(paths)
  const parents = (path: string): string[] => {
    const parent = path.replace(/(\.[^.[]+|\[\])$/, '')
    return parent === path || parent === '' ? [] : [parent, ...parents(parent)]
  }
  return paths
    .filter(path => !parents(path).some(parent => known.has(parent)))
    .filter(path => !path.endsWith('[]'))
}

/** Columns path and value: values outside the lists that the contract gives; undefined when no column has a list. */
export function unknownValues(plan: StagePlan): string | undefined {
  const selects = plan.tables.flatMap(({ name, table }) =>
    Object.entries(table.columns).flatMap(([column, { values }]) =>
      values
        ? [
            `select ${quoteText(`${table.name}.${column}`)} as path, ${quoteName(column)} as value from ${name}
             where ${quoteName(column)} not in (${values.map(quoteText).join(', ')})`,
          ]
        : [],
    ),
  )
  if (selects.length === 0) return undefined
  return `select distinct path, substr(value, 1, 80) as value from (${selects.join(' union all ')}) limit 20`
}
