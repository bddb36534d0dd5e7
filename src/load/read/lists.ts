/** Lists inside records: how the stage above keeps each, and the stage that its elements become. */
import { type ShapeNode, shapeOf } from '../../contract/derived/json-shape.ts'
import type { Path } from '../../contract/fields/column.ts'
import type { Child } from '../../contract/fields/table.ts'
import { quoteName } from '../../warehouse/sql-text.ts'
import { leafRows } from './attribute-leaves.ts'
import { objectsEmpty } from './cast-check.ts'
import type { Spelling } from './columns.ts'
import { stageStatement } from './columns.ts'
import type { Reader } from './pages.ts'
import { below, type StagePlan, type StageTable } from './plan.ts'
import { isShort, structType, typeAt } from './struct-type.ts'

/**
 * rows: the elements, typed; presence: whether there are any, so that the stage of the list reads the pages again;
 * document: JSON, of which a row per leaf is made.
 */
type Kept = 'rows' | 'presence' | 'document'

/** The shape of the elements of a stage. */
const elementShape = ({ table, child }: StageTable): ShapeNode =>
  child?.shape === 'value' ? { kind: 'leaf', type: 'text' } : shapeOf(table)

function nodeAt(node: ShapeNode | undefined, path: readonly string[]): ShapeNode | undefined {
  const [key, ...rest] = path
  if (key === undefined) return node
  return node?.kind === 'object' ? nodeAt(node.fields.get(key), rest) : undefined
}

const firstOf = ({ lists }: Child): readonly string[] => lists[0] ?? []

function keptOf(parent: StageTable, child: Child, { kind }: Reader): Kept {
  if (child.shape === 'leaves') return 'document'
  const node = nodeAt(elementShape(parent), firstOf(child))
  return kind === 'typed' && node && isShort(node) ? 'rows' : 'presence'
}

const textOf = (child: Child, element: string): string =>
  `nullif(cast(${below(element, firstOf(child))} as varchar), 'null')`

/** The condition that the list has elements. */
function hasElements(child: Child, element: string, { kind }: Reader): string {
  const at = below(element, firstOf(child))
  if (child.shape === 'single') return `${at} is not null`
  if (kind === 'typed') return `coalesce(len(${at}) > 0, false)`
  return `coalesce(${textOf(child, element)} <> '[]', false)`
}

/** A column for each list that is kept as rows or presence, as `expression as name`. */
export function keptColumns(stage: StageTable, element: string, reader: Reader): string[] {
  return stage.lists.flatMap(({ name, child }) => {
    const kept = keptOf(stage, child, reader)
    if (kept === 'document') return []
    const value = kept === 'rows' ? below(element, firstOf(child)) : hasElements(child, element, reader)
    return [`${value} as ${name}`]
  })
}

/** The same condition over the columns of a stage that is filled. */
export function isFilled(
  stage: StageTable,
  { name, child }: StageTable['lists'][number],
  reader: Reader,
): string {
  const kept = keptOf(stage, child, reader)
  if (kept === 'presence') return name
  return kept === 'rows' && child.shape !== 'single' ? `len(${name}) > 0` : `${name} is not null`
}

/** Conditions that a value that should be a list is none. */
export function noLists(stage: StageTable, element: string): string[] {
  return stage.lists.flatMap(({ child }) =>
    child.shape === 'single' || child.shape === 'leaves'
      ? []
      : [`coalesce(${textOf(child, element)} not like '[%', false)`],
  )
}

/** A step from a record or element to the list or object below it. */
interface Step {
  readonly path: Path
  readonly isList: boolean
}

const ownSteps = ({ lists, shape }: Child): Step[] =>
  lists.map((path, index) => ({ path, isList: shape !== 'single' || index < lists.length - 1 }))

/** The path from the record to the rows of this stage, through the lists of the stages above. */
const stepsTo = ({ parent, child }: StageTable): Step[] =>
  child ? [...(parent ? stepsTo(parent) : []), ...ownSteps(child)] : []

/** The position of a row in each list on its path, from 1. */
const placeName = (depth: number): string => `o${depth + 1}`
const placesTo = (depth: number): string[] => Array.from({ length: depth }, (_, index) => placeName(index))

/** One more step of the path: the columns carried so far, e (the element), and its position. */
function stepInto(
  from: string,
  { path, isList }: Step,
  carried: { names: readonly string[]; place: number },
): string {
  const at = below('e', path)
  const names = carried.names.join(', ')
  return `select ${names}, unnest(l) as e, generate_subscripts(l, 1) as ${placeName(carried.place)}
    from (select ${names}, ${isList ? at : `[${at}]`} as l from (${from}) where ${at} is not null)`
}

/** Reads of each record only the path to these rows, and unnests along it. */
function readAgain(stage: StageTable, reader: Reader): string {
  const steps = stepsTo(stage)
  const type = steps.reduceRight(
    (inner, { path, isList }) => typeAt(path, isList ? `${inner}[]` : inner),
    structType(elementShape(stage), reader),
  )
  return steps.reduce(
    (from, step, place) => stepInto(from, step, { names: ['locator', ...placesTo(place)], place }),
    `select locator, record as e from (${reader.records(type)})`,
  )
}

/** Columns of the record that rows of this table repeat but their parent does not have. */
function rootOnly({ table, parent }: StageTable): string[] {
  const wanted = Object.values(table.columns).flatMap(({ source }) =>
    source.from === 'root' ? [source.column] : [],
  )
  return parent?.parent ? wanted.filter(name => !(name in parent.table.columns)) : []
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

/** The columns that rows of this table repeat: of the parent row `p`, and of the record `r`, which is joined where needed. */
function repeatedColumns(
  plan: StagePlan,
  stage: StageTable,
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

/** The elements of a list that the parent stage carries, with the columns that they repeat. */
function carriedRows(plan: StagePlan, stage: StageTable, list: string): string {
  const { parent, child } = stage as StageTable & { parent: StageTable; child: Child }
  const depth = stepsTo(parent).length
  const { names, selected, join } = repeatedColumns(plan, stage)
  const own = ['locator', ...placesTo(depth)]
  const [first, ...deeper] = ownSteps(child)
  const steps = [{ path: [], isList: first?.isList ?? true }, ...deeper]
  return steps.reduce(
    (from, step, index) =>
      stepInto(from, step, {
        names: ['locator', ...placesTo(depth + index), ...names],
        place: depth + index,
      }),
    `select ${[...own.map(name => `p.${name}`), ...selected, `p.${list} as e`].join(', ')} from ${parent.name} p ${join}`,
  )
}

/** The elements of a list read from the pages again, joined with the columns that they repeat. */
function readRows(plan: StagePlan, stage: StageTable, reader: Reader): string {
  const { parent } = stage as StageTable & { parent: StageTable }
  const { selected, join } = repeatedColumns(plan, stage)
  const same = placesTo(stepsTo(parent).length).map(place => ` and p.${place} = w.${place}`)
  return `select ${['w.*', ...selected].join(', ')} from (${readAgain(stage, reader)}) w
    join ${parent.name} p on p.locator = w.locator${same.join('')} ${join}`
}

/** Columns e (the element), locator, its positions, and the columns that it repeats. */
function elementsOf(plan: StagePlan, stage: StageTable, reader: Reader): string {
  const { parent, child } = stage
  const list = parent?.lists.find(entry => entry.child === child)?.name
  if (!parent || !child || !list) throw new Error(`${stage.table.name} has no list to come from`)
  const kept = keptOf(parent, child, reader)
  if (kept === 'rows') return carriedRows(plan, stage, list)
  if (kept === 'presence') return readRows(plan, stage, reader)
  return `select p.*, l.leaf as e, l.place as o1 from ${parent.name} p join (${leafRows(parent.name, list)}) l using (locator)`
}

function isEmptyElement(shape: ShapeNode): string[] {
  if (shape.kind !== 'object') return []
  const known = [...shape.fields]
    .filter(([, node]) => node.kind === 'leaf')
    .map(([key]) => `${below('e', [key])} is null`)
  return known.length === 0 ? [] : [`(${known.join(' and ')})`]
}

/** Conditions for structure that the JSON reader lets pass; the typed reader fails on it. */
function misshapen(stage: StageTable, { kind }: Reader): string[] {
  if (kind === 'typed') return []
  const shape = elementShape(stage)
  return [...objectsEmpty(shape, 'e'), ...isEmptyElement(shape), ...noLists(stage, 'e')]
}

/** Creates the stage of one list: a typed row per element, with its positions and the columns that it repeats. */
export function childStage(plan: StagePlan, stage: StageTable, reader: Reader): string {
  const extra = rootOnly(stage)
  const before = stage.parent ? stepsTo(stage.parent).length : 0
  const spelling: Spelling = {
    element: 'e',
    scope: quoteName,
    root: name => quoteName(extra.includes(name) ? `root_${name}` : name),
    parent: quoteName,
    ordinal: level => placeName(before + level),
  }
  const places = stage.lists.length === 0 ? [] : placesTo(stepsTo(stage).length)
  return stageStatement(stage, spelling, {
    columns: ['locator', ...places, ...keptColumns(stage, 'e', reader)],
    from: `(${elementsOf(plan, stage, reader)}) where e is not null`,
    misshapen: misshapen(stage, reader),
    numbers: reader.numbers,
  })
}
