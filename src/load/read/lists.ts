/** What the stage of a record or element keeps of the lists in it. */
import { type ShapeNode, shapeOf } from '../../contract/derived/json-shape.ts'
import type { Child } from '../../contract/fields/table.ts'
import { below, type StageTable } from './plan.ts'
import type { Reader } from './reader.ts'
import { isShort } from './struct-type.ts'

/**
 * rows: the elements, typed; presence: whether there are any, so that the stage of the list reads the pages again;
 * document: JSON, of which a row per leaf is made.
 */
type Kept = 'rows' | 'presence' | 'document'

/** What an element of this stage looks like. */
export const elementShape = ({ table, child }: StageTable): ShapeNode =>
  child?.shape === 'value' ? { kind: 'leaf', type: 'text' } : shapeOf(table)

function nodeAt(node: ShapeNode | undefined, path: readonly string[]): ShapeNode | undefined {
  const [key, ...rest] = path
  if (key === undefined) return node
  return node?.kind === 'object' ? nodeAt(node.fields.get(key), rest) : undefined
}

const firstOf = ({ lists }: Child): readonly string[] => lists[0] ?? []

export function keptOf(parent: StageTable, child: Child, { kind }: Reader): Kept {
  if (child.shape === 'leaves') return 'document'
  const node = nodeAt(elementShape(parent), firstOf(child))
  return kind === 'typed' && node && isShort(node) ? 'rows' : 'presence'
}

const textOf = (child: Child, element: string): string =>
  `nullif(cast(${below(element, firstOf(child))} as varchar), 'null')`

/** The condition that there is something for the stage of the list to read. */
function hasElements(child: Child, element: string, { kind }: Reader): string {
  const at = below(element, firstOf(child))
  if (child.shape === 'single') return `${at} is not null`
  if (kind === 'typed') return `coalesce(len(${at}) > 0, false)`
  return `coalesce(${textOf(child, element)} <> '[]', false)`
}

/** One column a list of rows or presences, as `expression as name`. */
export function keptColumns(stage: StageTable, element: string, reader: Reader): string[] {
  return stage.lists.flatMap(({ name, child }) => {
    const kept = keptOf(stage, child, reader)
    if (kept === 'document') return []
    const value = kept === 'rows' ? below(element, firstOf(child)) : hasElements(child, element, reader)
    return [`${value} as ${name}`]
  })
}

/** The condition, over the columns of the filled stage, that the list in this one has elements. */
export function isFilled(
  stage: StageTable,
  { name, child }: StageTable['lists'][number],
  reader: Reader,
): string {
  const kept = keptOf(stage, child, reader)
  if (kept === 'presence') return name
  return kept === 'rows' && child.shape !== 'single' ? `len(${name}) > 0` : `${name} is not null`
}

/** The conditions that something else stands where a list should be. */
export function noLists(stage: StageTable, element: string): string[] {
  return stage.lists.flatMap(({ child }) =>
    child.shape === 'single' || child.shape === 'leaves'
      ? []
      : [`coalesce(${textOf(child, element)} not like '[%', false)`],
  )
}
