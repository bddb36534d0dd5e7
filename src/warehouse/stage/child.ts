/** The stages of the lists inside records. */
import type { ShapeNode } from '../../resources/json-shape.ts'
import { shapeOf } from '../../resources/json-shape.ts'
import type { Child } from '../../resources/table.ts'
import { quoteName, quoteNames } from '../sql-text.ts'
import { directColumns, hashedColumns, type Spelling, suspicion, withDerived } from './columns.ts'
import { leafRows } from './leaf-rows.ts'
import { below, type StagePlan, type StageTable } from './plan.ts'

/** The columns of the record that rows of this table repeat but their parent does not carry. */
function rootOnly(stage: StageTable): string[] {
  const parent = stage.parent
  const wanted = Object.values(stage.table.columns).flatMap(({ source }) =>
    source.from === 'root' ? [source.column] : [],
  )
  return parent?.parent ? wanted.filter(name => !(name in parent.table.columns)) : []
}

/** Walks list after list: e1 is an element of the first, e2 of the list inside it, and so on; o1, o2 their places. */
function unnested(
  child: Child,
  list: string,
  from: string,
): { readonly sql: string; readonly depth: number } {
  let sql = `select *, unnest(${list}) as e1, generate_subscripts(${list}, 1) as o1 from ${from}`
  const deeper = child.lists.slice(1)
  deeper.forEach((path, index) => {
    const inner = below(`e${index + 1}`, path)
    sql = `select *, unnest(${inner}) as e${index + 2}, generate_subscripts(${inner}, 1) as o${index + 2} from (${sql})`
  })
  return { sql, depth: child.lists.length }
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
  const from =
    extra.length === 0
      ? parent.name
      : `(select p.*, ${extra.map(name => `r.${quoteName(name)} as ${quoteName(`root_${name}`)}`).join(', ')}
          from ${parent.name} p join ${plan.root.name} r using (locator))`
  return unnested(child, list, from)
}

function rawList(child: Child, element: string): string {
  const at = below(element, child.lists[0] ?? [])
  return child.shape === 'single' ? `case when ${at} is null then null else [${at}] end` : at
}

/** A list inside an element is looked at closely when it is absent: the struct cannot tell it from one that is no list. */
function nestedListSuspicions(stage: StageTable, element: string): string[] {
  return stage.lists
    .filter(({ child }) => child.shape !== 'single')
    .map(({ child }) => `${rawList(child, element)} is null`)
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
  const leaves = stage.child?.shape === 'leaves'
  const suspicions = [
    suspicion(stage, spelling, shape),
    ...isEmptyElement(shape, element),
    ...nestedListSuspicions(stage, element),
  ]
  const direct = [
    'locator',
    ...directColumns(stage.table, spelling),
    ...stage.lists.map(({ name, child }) => `${rawList(child, element)} as ${name}`),
    // Leaves of a document are text by construction: there is nothing to lose.
    `(${leaves ? 'false' : suspicions.join(' or ')}) as suspect`,
  ]
  const typed = `select ${direct.join(', ')} from (${sql}) where ${element} is not null`
  return `create or replace temp table ${stage.name} as
    select *, hash(${quoteNames(hashedColumns(stage.table))}) as own_hash from (${withDerived(stage.table, typed)})`
}
