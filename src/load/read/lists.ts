/** Reads lists inside records: how the parent stage carries each list, and the stage its elements go to. */
import { type ShapeNode, shapeOf } from '../../contract/derived/json-shape.ts'
import type { FieldPath } from '../../contract/fields/column.ts'
import type { ChildTable } from '../../contract/fields/table.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { leafRows } from './attribute-leaves.ts'
import type { Spelling } from './columns.ts'
import { stageStatement } from './columns.ts'
import type { PageReader } from './pages.ts'
import { below, type ListStage, nodeAt, type StagePlan, type StageTable } from './plan.ts'
import { isShort, structType, typeAt } from './struct-type.ts'

/**
 * rows: the typed elements; presence: whether there are any, so the list's stage reads the pages again; document: JSON,
 * with a row for each leaf.
 */
type ListForm = 'rows' | 'presence' | 'document'

/** The shape of a stage's elements. */
const elementShape = ({ table, origin }: StageTable): ShapeNode =>
  origin?.child.shape === 'value' ? { kind: 'leaf', type: 'text' } : shapeOf(table)

function listFormOf(parent: StageTable, child: ChildTable, { kind }: PageReader): ListForm {
  if (child.shape === 'leaves') return 'document'
  const node = nodeAt(elementShape(parent), child.lists[0])
  return kind === 'typed' && node && isShort(node) ? 'rows' : 'presence'
}

const textOf = (child: ChildTable, element: string): string =>
  `nullif(cast(${below(element, child.lists[0])} as varchar), 'null')`

/** SQL condition: the list has elements. */
function hasElements(child: ChildTable, element: string, { kind }: PageReader): string {
  const at = below(element, child.lists[0])
  if (child.shape === 'single') return `${at} is not null`
  if (kind === 'typed') return `coalesce(len(${at}) > 0, false)`
  return `coalesce(${textOf(child, element)} <> '[]', false)`
}

/** A column for each list, as `expression as name`. */
export function listColumns(
  stage: StageTable,
  { element, document }: Pick<Spelling, 'element' | 'document'>,
  reader: PageReader,
): string[] {
  return stage.lists.map(({ column, child }) => {
    const [path] = child.lists
    const form = listFormOf(stage, child, reader)
    if (form === 'document') return `${document(path)} as ${column}`
    return `${form === 'rows' ? below(element, path) : hasElements(child, element, reader)} as ${column}`
  })
}

/** The same condition, on the columns of a filled stage. */
export function isFilled(
  stage: StageTable,
  { column, child }: StageTable['lists'][number],
  reader: PageReader,
): string {
  const form = listFormOf(stage, child, reader)
  if (form === 'presence') return column
  return form === 'rows' && child.shape !== 'single' ? `len(${column}) > 0` : `${column} is not null`
}

/** A step from a record or element to the list or object below it. */
interface ListStep {
  readonly path: FieldPath
  readonly isList: boolean
}

const ownSteps = ({ lists, shape }: ChildTable): ListStep[] =>
  lists.map(path => ({ path, isList: shape !== 'single' }))

/** The path from the record to the rows of this stage, through the lists of its parent stages. */
const stepsTo = ({ origin }: StageTable): ListStep[] =>
  origin ? [...stepsTo(origin.parent), ...ownSteps(origin.child)] : []

/** Column with a row's position, from 1, in the list at this depth. */
const placeName = (depth: number): string => `o${depth + 1}`
const placesTo = (depth: number): string[] => Array.from({ length: depth }, (_, index) => placeName(index))

/** Adds a step of the path: the columns carried so far, e (the element), and its position. */
function stepInto(
  from: string,
  { path, isList }: ListStep,
  carried: { names: readonly string[]; place: number },
): string {
  const at = below('e', path)
  const names = carried.names.join(', ')
  return `select ${names}, unnest(l) as e, generate_subscripts(l, 1) as ${placeName(carried.place)}
    from (select ${names}, ${isList ? at : `[${at}]`} as l from (${from}) where ${at} is not null)`
}

/** Reads only the path to these rows from each record, and unnests along it. */
function readAgain(stage: ListStage, reader: PageReader): string {
  const steps = stepsTo(stage)
  const type = steps.reduceRight(
    (inner, { path, isList }) => typeAt(path, isList ? `${inner}[]` : inner),
    structType(elementShape(stage), reader.kind),
  )
  return steps.reduce(
    (from, step, place) => stepInto(from, step, { names: ['locator', ...placesTo(place)], place }),
    `select locator, record as e from (${reader.records(type)})`,
  )
}

/** Record columns that rows of this table repeat, but their parent does not have. */
function rootOnly({ table, origin }: ListStage): string[] {
  const wanted = Object.values(table.columns).flatMap(({ source }) =>
    source.from === 'root' ? [source.column] : [],
  )
  return wanted.filter(name => !(name in origin.parent.table.columns))
}

/** Columns of the parent row that rows of this table repeat. */
function repeated({ table }: StageTable, extra: readonly string[]): string[] {
  const names = Object.values(table.columns).flatMap(({ source }) =>
    source.from === 'parent' || (source.from === 'root' && !extra.includes(source.column))
      ? [source.column]
      : [],
  )
  return [...new Set(names)]
}

/** Columns that rows of this table repeat: from parent row `p`, and from record `r`, which is joined only if needed. */
function repeatedColumns(
  plan: StagePlan,
  stage: ListStage,
): { names: string[]; selected: string[]; join: string } {
  const extra = rootOnly(stage)
  const above = repeated(stage, extra)
  const ofRoot = extra.map(name => `root_${name}`)
  return {
    names: [...above, ...ofRoot].map(name => quoteName(name)),
    selected: [
      ...above.map(name => `p.${quoteName(name)}`),
      ...extra.map(name => `r.${quoteName(name)} as ${quoteName(`root_${name}`)}`),
    ],
    join: extra.length === 0 ? '' : `join ${plan.root.name} r on r.locator = p.locator`,
  }
}

/** Selects the elements of a list that the parent stage carries, with the columns that they repeat. */
function carriedRows(plan: StagePlan, stage: ListStage): string {
  const { parent, child, column } = stage.origin
  const depth = stepsTo(parent).length
  const { names, selected, join } = repeatedColumns(plan, stage)
  const own = ['locator', ...placesTo(depth)]
  const steps = ownSteps(child).map((step, index) => (index === 0 ? { ...step, path: [] } : step))
  return steps.reduce(
    (from, step, index) =>
      stepInto(from, step, {
        names: ['locator', ...placesTo(depth + index), ...names],
        place: depth + index,
      }),
    `select ${[...own.map(name => `p.${name}`), ...selected, `p.${column} as e`].join(', ')} from ${parent.name} p ${join}`,
  )
}

/** Selects the elements of a list from the pages, read again, joined with the columns that they repeat. */
function readRows(plan: StagePlan, stage: ListStage, reader: PageReader): string {
  const { parent } = stage.origin
  const { selected, join } = repeatedColumns(plan, stage)
  const same = placesTo(stepsTo(parent).length).map(place => ` and p.${place} = w.${place}`)
  return `select ${['w.*', ...selected].join(', ')} from (${readAgain(stage, reader)}) w
    join ${parent.name} p on p.locator = w.locator${same.join('')} ${join}`
}

/** Columns e (the element), locator, its positions, and the columns that it repeats. */
function elementsOf(plan: StagePlan, stage: ListStage, reader: PageReader): string {
  const { parent, child, column } = stage.origin
  const form = listFormOf(parent, child, reader)
  if (form === 'rows') return carriedRows(plan, stage)
  if (form === 'presence') return readRows(plan, stage, reader)
  return `select p.*, l.leaf as e, l.place as o1 from ${parent.name} p join (${leafRows(parent.name, column)}) l using (locator)`
}

/** Creates the stage of one list: a typed row for each element, with its positions and the columns that it repeats. */
export function childStage(plan: StagePlan, stage: ListStage, reader: PageReader): string {
  const extra = rootOnly(stage)
  const before = stepsTo(stage.origin.parent).length
  const spelling: Spelling = {
    element: 'e',
    hasLong: reader.hasLong,
    document: path => below('e', path),
    scope: quoteName,
    root: name => quoteName(extra.includes(name) ? `root_${name}` : name),
    parent: quoteName,
    ordinal: level => placeName(before + level),
  }
  const places = stage.lists.length === 0 ? [] : placesTo(stepsTo(stage).length)
  return stageStatement(stage, spelling, {
    columns: ['locator', ...places, ...listColumns(stage, spelling, reader)],
    from: `(${elementsOf(plan, stage, reader)}) where e is not null`,
  })
}
