/**
 * Decides which person each undeclared field of a record describes: the one whose id is in the same object, or is a key above
 * the field, at any depth and in lists. Declared fields follow their declarations.
 */
import { isId } from '../../contract/fields/record-id.ts'
import { type PersonKind, personKinds } from '../recogniser.ts'
import { type JsonNode, textOf } from './json-tree.ts'

/** `other`: another person, who may have the same name. `none`: an id that is not known to be a person's. */
type ObjectOwner = 'forgotten' | 'other' | 'none'

export interface RecordFields {
  readonly bytes: Buffer
  /** Paths that the table declares. */
  readonly declared: ReadonlySet<string>
  /** Declared paths of person ids, with the kind of person. */
  readonly persons: ReadonlyMap<string, PersonKind>
  /** Paths of lists whose elements are rows of a child table. */
  readonly lists: ReadonlySet<string>
  /** The record is a row of a declared table, not an undeclared object. */
  readonly isRow: boolean
  readonly skipped: ReadonlySet<JsonNode>
  isForgotten(kind: PersonKind, id: string): boolean
  /** Whether the text is, or contains, a value of a forgotten person. */
  recognises(text: string): boolean
}

export interface DescribedLeaf {
  readonly leaf: JsonNode
  readonly owner: 'forgotten' | 'other'
  /** The nearest key, without the stem that it shares with the id's key: `Email` for `approverEmail` beside `approverId`. */
  readonly key: string
  /** The object that directly contains it has an id. */
  readonly isDirect: boolean
}

interface ObjectClaim {
  readonly owner: ObjectOwner
  /** Lower-case prefixes of the keys that describe this owner; '' means the complete object. */
  readonly stems: readonly string[]
}

const idKey = /^_?id$|[a-z0-9]_?Id$|_id$|(?:by|user|worker|person)$/i
const emailKey = /e?-?_?mail(?:_?address)?$/i

/** A shorter number or word counts as an id only if its key looks like that of an id. */
const minIdLength = 12

const stemsOf = (key: string): string[] => {
  const role = key.replace(/_?id$/i, '')
  return [...new Set([role, role.replace(/_?(?:user|worker|person)$/i, '')])].map(one => one.toLowerCase())
}

/** A short stem must end at a word boundary in the key: `by` does not match `bypass`. */
const startsWith = (key: string, stem: string): boolean =>
  key.toLowerCase().startsWith(stem) && (stem.length >= 4 || !/[a-z]/.test(key[stem.length] ?? ''))

const below = (at: string, key: string): string => (at === '' ? key : `${at}.${key}`)

const scalarOf = (bytes: Buffer, node: JsonNode): string | undefined => {
  if (node.kind === 'string') return textOf(bytes, node)
  return node.kind === 'other' ? bytes.toString('latin1', node.start, node.end) : undefined
}

const isAnyForgotten = (record: RecordFields, id: string): boolean =>
  isId(id) && personKinds.some(kind => record.isForgotten(kind, id))

function claimOf(record: RecordFields, at: string, [key, value]: JsonNode['members'][number]): ObjectClaim[] {
  const text = scalarOf(record.bytes, value)
  if (text === undefined) return []
  const path = below(at, key)
  const stems = stemsOf(key)
  const kind = record.persons.get(path)
  if (kind) return [{ owner: record.isForgotten(kind, text) ? 'forgotten' : 'other', stems }]
  if (record.declared.has(path)) return idKey.test(key) ? [{ owner: 'none', stems }] : []
  if (emailKey.test(key) && text.includes('@') && record.recognises(text))
    return [{ owner: 'forgotten', stems: [key.replace(emailKey, '').toLowerCase()] }]
  const isKey = idKey.test(key)
  if ((isKey || text.length >= minIdLength) && isAnyForgotten(record, text))
    return [{ owner: 'forgotten', stems }]
  return isKey && isId(text) && text !== 'null' ? [{ owner: 'none', stems }] : []
}

/** An object with its own id and e-mail address describes another person, unless one of its ids is forgotten. */
function claimsOf(record: RecordFields, at: string, { members }: JsonNode): ObjectClaim[] {
  const claims = members.flatMap(member => claimOf(record, at, member))
  const isForgotten = claims.some(({ owner }) => owner === 'forgotten')
  const hasAddress = members.some(
    ([key, value]) => emailKey.test(key) && scalarOf(record.bytes, value)?.includes('@'),
  )
  if (isForgotten || !hasAddress) return claims
  return claims.map(claim => (claim.stems.includes('') ? { ...claim, owner: 'other' } : claim))
}

interface OpenNode {
  readonly node: JsonNode
  readonly at: string
  readonly key: string
  readonly owner: ObjectOwner | undefined
  readonly isDirect: boolean
}

const owns = (claims: readonly ObjectClaim[], owner: ObjectOwner): boolean =>
  claims.some(claim => claim.owner === owner)

/** Prefers the owner with the longest matching stem, then the object's own, then that of the object above. */
function ownerOf(
  key: string,
  claims: readonly ObjectClaim[],
  { isObject, isOpen, above }: { isObject: boolean; isOpen: boolean; above: ObjectOwner | undefined },
): { owner: ObjectOwner | undefined; stem: string } {
  const [nearest] = claims
    .flatMap(({ owner, stems }) => stems.map(stem => ({ owner, stem })))
    .filter(({ stem }) => stem !== '' && startsWith(key, stem))
    .sort((one, other) => other.stem.length - one.stem.length)
  if (nearest) return nearest
  const own = isObject ? claims.filter(({ stems }) => stems.includes('')) : []
  const owner = (['forgotten', 'other'] as const).find(
    one => owns(own, one) || (one === 'forgotten' && isOpen && owns(claims, one)),
  )
  return { owner: owner ?? above, stem: '' }
}

function membersOf(record: RecordFields, open: OpenNode, containers: ReadonlySet<string>): OpenNode[] {
  const { node, at } = open
  const claims = claimsOf(record, at, node)
  const isRoot = at === '' && record.isRow
  const place = {
    isObject: !isRoot,
    isOpen: !isRoot && !containers.has(at),
    above: open.owner,
  }
  return node.members.flatMap(([key, value]) => {
    const path = below(at, key)
    if (record.lists.has(path) || record.skipped.has(value)) return []
    if (record.declared.has(path) && scalarOf(record.bytes, value) !== undefined) return []
    const { owner, stem } = isAnyForgotten(record, key)
      ? { owner: 'forgotten' as const, stem: '' }
      : ownerOf(key, claims, place)
    return [{ node: value, at: path, key: key.slice(stem.length), owner, isDirect: claims.length > 0 }]
  })
}

/** Finds undeclared values that an id assigns to a person, forgotten or not; leaves out the ids themselves. */
export function describedLeaves(record: RecordFields, root: JsonNode): DescribedLeaf[] {
  const containers = new Set(
    [...record.declared].flatMap(path =>
      path.split('.').map((_, index, keys) => keys.slice(0, index).join('.')),
    ),
  )
  const found: DescribedLeaf[] = []
  const open: OpenNode[] = [{ node: root, at: '', key: '', owner: undefined, isDirect: false }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, at, key, owner, isDirect } = next
    if (node.kind === 'object') open.push(...membersOf(record, next, containers))
    else if (node.kind === 'array')
      for (const item of node.items)
        if (!record.skipped.has(item)) open.push({ node: item, at: `${at}[]`, key, owner, isDirect })
    if (node.kind === 'object' || node.kind === 'array') continue
    if (
      (owner === 'forgotten' || owner === 'other') &&
      !isAnyForgotten(record, scalarOf(record.bytes, node) ?? '')
    )
      found.push({ leaf: node, owner, key, isDirect })
  }
  return found
}

const nameKey =
  /^_?(?:(?:full|display|legal|known|preferred|former|previous|maiden|birth|other|old)_?)*(?:names?|alias(?:es)?|(?:known_?)?as)$/i
const numberKey = /(?:phone|mobile|tel|cell|whatsapp|msisdn)(?:_?(?:no|number))?s?$/i

/** Whether a value under this key identifies the person in other places too. */
export const isIdentifying = ({ key, isDirect }: DescribedLeaf): boolean =>
  emailKey.test(key) || /e?-?mails$/i.test(key) || numberKey.test(key) || (isDirect && nameKey.test(key))
