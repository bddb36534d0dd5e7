/**
 * Rebuilds the undeclared leaves of a record as one JSON document, with the person ids from star in their places. So the code
 * that scrubs landed pages also decides whose a leaf is.
 */
import { catalogue } from '../contract/catalogue.ts'
import type { Resource } from '../contract/fields/resource.ts'
import { groupBy } from '../lib/group-by.ts'
import type { Engine } from '../warehouse/engine.ts'
import { quoteText } from '../warehouse/sql-text.ts'
import type { Erasure, PersonKey } from './erasures.ts'
import {
  type CellFilter,
  candidates,
  inRecords,
  leafTables,
  namedIn,
  type PersonReference,
} from './ids-in-records.ts'
import type { Recogniser } from './recogniser.ts'
import { isDocument } from './record/json-tree.ts'
import type { FoundValues } from './record/scrub.ts'
import { scrubLeaves } from './record/scrub-page.ts'

interface LeafRow {
  readonly table: string
  readonly leaf_key: string
  readonly record_id: string
  readonly row_hash: string
  readonly path: string
  readonly value_text: string
  readonly value_type: string
}

interface LeafTree {
  leaf?: { readonly json: string; readonly of?: LeafRow }
  readonly members: Map<string, LeafTree>
  readonly items: LeafTree[]
}

const tree = (): LeafTree => ({ members: new Map(), items: [] })

/** Splits a path into keys and positions; a path in any other form is one key. */
export function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = []
  const step = /\[(\d{1,6})\]|\.?("(?:[^"\\]|\\.)*"(?:#\d+)?)|\.?([^.[\]"]+)/y
  // A list at the top of a document has paths such as `config.0]`.
  const text = path.replace(/\.(\d{1,6})\]/g, '[$1]')
  while (step.lastIndex < text.length) {
    const found = step.exec(text)
    if (!found) return [path]
    const [, index, quoted, plain] = found
    if (index !== undefined) steps.push(Number(index))
    else steps.push(quoted?.endsWith('"') ? String(JSON.parse(quoted)) : (quoted ?? plain ?? ''))
  }
  return steps
}

function put(root: LeafTree, steps: readonly (string | number)[], leaf: NonNullable<LeafTree['leaf']>): void {
  let at = root
  for (const one of steps) {
    const next = (typeof one === 'number' ? at.items[one] : at.members.get(one)) ?? tree()
    if (typeof one === 'number') at.items[one] = next
    else at.members.set(one, next)
    at = next
  }
  if (!at.leaf) at.leaf = leaf
  else at.members.set(`#${at.members.size}`, { ...tree(), leaf })
}

/** Writes JSON, and records the byte offsets of each leaf in `places`. */
class Writer {
  readonly places: { readonly leaf: LeafRow; readonly start: number; readonly end: number }[] = []
  #pieces: string[] = []
  #length = 0

  write(text: string): void {
    this.#pieces.push(text)
    this.#length += Buffer.byteLength(text)
  }

  tree({ leaf, members, items }: LeafTree): void {
    // A path may be a value in one place of a record and an object in another: write the value as a field of the object.
    if (leaf && (members.size > 0 || items.length > 0)) members.set('#', { ...tree(), leaf })
    if (members.size > 0) {
      if (items.length > 0) members.set('[]', { ...tree(), items })
      for (const [index, [key, value]] of [...members].entries()) {
        this.write(`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`)
        this.tree(value)
      }
      this.write('}')
    } else if (items.length > 0) {
      for (const [index, item] of Array.from(items).entries()) {
        this.write(index === 0 ? '[' : ',')
        if (item) this.tree(item)
        else this.write('null')
      }
      this.write(']')
    } else {
      const start = this.#length
      this.write(leaf?.json ?? 'null')
      if (leaf?.of) this.places.push({ leaf: leaf.of, start, end: this.#length })
    }
  }

  get bytes(): Buffer {
    return Buffer.from(this.#pieces.join(''))
  }
}

const isRaw = ({ value_type, value_text }: LeafRow): boolean =>
  value_type === 'json' && isDocument(value_text)

/** Maximum records in memory at once. */
const recordsAtOnce = 1000

const versionOf = (row: { readonly record_id: string; readonly row_hash: string }): string =>
  `${row.record_id} ${row.row_hash}`

interface LeafSearch {
  readonly recogniser: Recogniser
  readonly cellFilter: CellFilter
  readonly found?: FoundValues
}

/** A leaf and its new text. */
interface LeafChange {
  readonly leaf: LeafRow
  readonly text: string
}

interface Version {
  readonly resource: Resource | undefined
  readonly leaves: readonly LeafRow[]
  readonly named: readonly PersonReference[]
}

function changesIn({ resource, leaves, named }: Version, { recogniser, found }: LeafSearch): LeafChange[] {
  const root = tree()
  for (const { place, path, text } of named)
    put(root, [...stepsOf(place), ...path], { json: JSON.stringify(text) })
  for (const leaf of leaves)
    put(root, stepsOf(leaf.path), {
      json: isRaw(leaf) ? leaf.value_text : JSON.stringify(leaf.value_text),
      of: leaf,
    })
  const writer = new Writer()
  writer.tree(root)
  return scrubLeaves(writer.bytes, recogniser, { resource, found, places: writer.places }).map(
    ({ leaf, text }) => ({ leaf, text: isRaw(leaf) ? text : String(JSON.parse(text)) }),
  )
}

async function changesOf(
  engine: Engine,
  { entity, ids }: { readonly entity: string; readonly ids: readonly string[] },
  search: LeafSearch,
): Promise<LeafChange[]> {
  const resource = catalogue.find(one => one.entity === entity)
  const leaves: LeafRow[] = []
  for (const table of leafTables)
    leaves.push(
      ...(await engine.rows<LeafRow>(
        `select ${quoteText(table)} as "table", attribute_leaf_key as leaf_key, record_id, row_hash, path, value_text, value_type
         from ${table} where ${inRecords(entity, ids)} and value_type <> 'empty'`,
      )),
    )
  const named = resource ? await namedIn(engine, resource, ids) : []
  const byVersion = groupBy(named, versionOf)
  const byRecord = groupBy(named, one => versionOf({ ...one, row_hash: '' }))
  return [...groupBy(leaves, versionOf)].flatMap(([version, some]) => {
    const beside = byVersion.get(version) ?? byRecord.get(`${some[0]?.record_id} `) ?? []
    return changesIn({ resource, leaves: some, named: beside }, search)
  })
}

/** Updates text and type of the person's leaves; each version of a record is one document. */
export async function leafErasures(
  engine: Engine,
  person: PersonKey,
  search: LeafSearch,
): Promise<Erasure[]> {
  const groups = new Map<string, { table: string; text: string; rows: string[] }>()
  for (const [entity, all] of await candidates(engine, person, search.cellFilter))
    for (let from = 0; from < all.length; from += recordsAtOnce) {
      const ids = all.slice(from, from + recordsAtOnce)
      for (const { leaf, text } of await changesOf(engine, { entity, ids }, search)) {
        const { table } = leaf
        const group = groups.get(`${table} ${text}`) ?? { table, text, rows: [] }
        group.rows.push(quoteText(`${leaf.leaf_key} ${leaf.row_hash}`))
        groups.set(`${table} ${text}`, group)
      }
    }
  return [...groups.values()].map(({ table, text, rows }) => ({
    table,
    set: {
      value_text: quoteText(text),
      value_type: `case when value_type = 'json' then 'json' else 'text' end`,
    },
    where: `attribute_leaf_key || ' ' || row_hash in (${rows.join(', ')})`,
  }))
}
