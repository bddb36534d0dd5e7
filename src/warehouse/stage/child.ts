/** The stages of the lists inside records. */
import type { ShapeNode } from '../../resources/json-shape.ts'
import { shapeOf } from '../../resources/json-shape.ts'
import type { Child } from '../../resources/table.ts'
import { quoteName } from '../sql-text.ts'
import type { Spelling } from './columns.ts'
import { leafRows } from './leaf-rows.ts'
import { below, type StagePlan, type StageTable } from './plan.ts'
import { noList, rawList } from './raw-list.ts'
import { stageStatement } from './statement.ts'
import { jsonAt, structType } from './struct-type.ts'

/** The columns of the record that rows of this table repeat but their parent does not carry. */
function rootOnly(stage: StageTable): string[] {
  const parent = stage.parent
  const wanted = Object.values(stage.table.columns).flatMap(({ source }) =>
    source.from === 'root' ? [source.column] : [],
  )
  return parent?.parent ? wanted.filter(name => !(name in parent.table.columns)) : []
}

/** Columns of the parent row that rows of this table repeat. */
function repeated(stage: StageTable, extra: readonly string[]): string[] {
  const names = Object.values(stage.table.columns).flatMap(({ source }) =>
    source.from === 'parent' || (source.from === 'root' && !extra.includes(source.column))
      ? [source.column]
      : [],
  )
  return [...new Set(names)]
}

/** Element types of the lists that a child walks, outermost first; all but the last only lead to the next list. */
function elementTypes(child: Child): string[] {
  const last = child.shape === 'value' ? 'VARCHAR' : structType(shapeOf(child.table))
  return [...child.lists.slice(1).map(jsonAt), last]
}

/**
 * As JSON, although a raw list is text: cast straight from text, DuckDB reads a notation of its own, in which an element
 * with an undeclared key or an escaped character becomes NULL (and which takes three times as long).
 */
const elementsAs = (type: string, list: string): string => `try_cast(cast(${list} as json) as ${type}[])`

/** Walks list after list: e1 is an element of the first, e2 of the list inside it, and so on; o1, o2 their places. */
function unnested(
  child: Child,
  list: string,
  from: string,
): { readonly sql: string; readonly depth: number } {
  const types = elementTypes(child)
  const sql = types.reduce((inner, type, index) => {
    const json = index === 0 ? list : below(`e${index}`, child.lists[index] ?? [])
    const elements = child.shape === 'single' ? json : elementsAs(type, json)
    const level = index + 1
    return `(select *, unnest(l${level}) as e${level}, generate_subscripts(l${level}, 1) as o${level}
      from (select *, ${elements} as l${level} from ${inner} where ${json} is not null))`
  }, from)
  return { sql: `select * from ${sql}`, depth: types.length }
}

function elementsOf(plan: StagePlan, stage: StageTable): { sql: string; depth: number } {
  const { parent, child } = stage
  const list = parent?.lists.find(entry => entry.child === child)?.name
  if (!parent || !child || !list) throw new Error(`${stage.table.name} has no list to come from`)
  if (child.shape === 'leaves') {
    const leaves = leafRows(parent.name, list)
    return {
      sql: `select p.*, l.leaf as e1, l.place as o1 from ${parent.name} p join (${leaves}) l using (locator)`,
      depth: 1,
    }
  }
  const extra = rootOnly(stage)
  // Only what is wanted: the unnesting repeats every column it is given for each element.
  const wanted = [`p.locator`, `p.${list}`, ...repeated(stage, extra).map(name => `p.${quoteName(name)}`)]
  const ofRoot = extra.map(name => `r.${quoteName(name)} as ${quoteName(`root_${name}`)}`)
  const join = extra.length === 0 ? '' : `join ${plan.root.name} r using (locator)`
  const from = `(select ${[...wanted, ...ofRoot].join(', ')} from ${parent.name} p ${join})`
  return unnested(child, list, from)
}

function elementShape(stage: StageTable): ShapeNode {
  return stage.child?.shape === 'value' ? { kind: 'leaf', type: 'text' } : shapeOf(stage.table)
}

function isEmptyElement(shape: ShapeNode, element: string): string[] {
  if (shape.kind !== 'object') return []
  const known = [...shape.fields]
    .filter(([, node]) => node.kind === 'leaf')
    .map(([key]) => `${below(element, [key])} is null`)
  return known.length === 0 ? [] : [`(${known.join(' and ')})`]
}

/** Creates the stage of one list: a row per element, typed, with what it repeats from above. */
export function childStage(plan: StagePlan, stage: StageTable): string {
  const { sql, depth } = elementsOf(plan, stage)
  const element = `e${depth}`
  const extra = rootOnly(stage)
  const spelling: Spelling = {
    element,
    scope: quoteName,
    root: name => quoteName(extra.includes(name) ? `root_${name}` : name),
    parent: quoteName,
    ordinal: level => `o${level === 0 ? 1 : level + 1}`,
  }
  const shape = elementShape(stage)
  const columns = [
    'locator',
    ...stage.lists.map(({ name, child }) => `${rawList(child, element)} as ${name}`),
  ]
  const odd = [
    ...isEmptyElement(shape, element),
    ...stage.lists.flatMap(({ child }) => noList(child, element)),
  ]
  return stageStatement(stage, spelling, {
    columns,
    from: `(${sql}) where ${element} is not null`,
    odd,
    shape,
  })
}
