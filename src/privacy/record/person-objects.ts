/**
 * Whom each undeclared field of a record describes: the person whose id stands in the same object, or under whose id the object
 * stands, at any depth and in lists. Declared fields are the declarations' own.
 */
import { isId } from '../../contract/fields/record-id.ts'
import { type PersonKind, personKinds } from '../recogniser.ts'
import { type JsonNode, textOf } from './json-tree.ts'

/** `other`: somebody else, who may have the same name. `none`: something that is no person, as far as anybody can tell. */
type Owner = 'forgotten' | 'other' | 'none'

export interface RecordFields {
  readonly bytes: Buffer
  /** Paths that the table declares. */
  readonly declared: ReadonlySet<string>
  /** Declared paths of ids of persons. */
  readonly persons: ReadonlyMap<string, PersonKind>
  /** Lists whose elements are rows of their own. */
  readonly lists: ReadonlySet<string>
  /** The record is a row whose fields the table declares; an object that nobody declared is none. */
  readonly isRow: boolean
  readonly skipped: ReadonlySet<JsonNode>
  isForgotten(kind: PersonKind, id: string): boolean
  /** Whether the text is, or contains, a value of a forgotten person. */
  tells(text: string): boolean
}

export interface DescribedLeaf {
  readonly leaf: JsonNode
  readonly owner: 'forgotten' | 'other'
  /** The last key above it, without the words that it shares with the key of the id: `email` of `approverEmail`. */
  readonly key: string
  /** It stands in the object that has the id, not in one below. */
  readonly isDirect: boolean
}

interface Claim {
  readonly owner: Owner
  /** Beginnings of keys, in lower case, that describe whoever it is; '' for the object as a whole. */
  readonly stems: readonly string[]
}

const idKey = /^_?id$|[a-z0-9]_?Id$|_id$|(?:by|user|worker|person)$/i
const emailKey = /e?-?_?mail(?:_?address)?$/i

/** A shorter number or word is an id only under the key of one. */
const leastIdLength = 12

const stemsOf = (key: string): string[] => {
  const role = key.replace(/_?id$/i, '')
  return [...new Set([role, role.replace(/_?(?:user|worker|person)$/i, '')])].map(one => one.toLowerCase())
}

/** A short stem ends where the next word of the key begins: `by` is no part of `bypass`. */
const startsWith = (key: string, stem: string): boolean =>
  key.toLowerCase().startsWith(stem) && (stem.length >= 4 || !/[a-z]/.test(key[stem.length] ?? ''))

const below = (at: string, key: string): string => (at === '' ? key : `${at}.${key}`)

const scalarOf = (bytes: Buffer, node: JsonNode): string | undefined => {
  if (node.kind === 'string') return textOf(bytes, node)
  return node.kind === 'other' ? bytes.toString('latin1', node.start, node.end) : undefined
}

const isAnyForgotten = (record: RecordFields, id: string): boolean =>
  isId(id) && personKinds.some(kind => record.isForgotten(kind, id))

function claimOf(record: RecordFields, at: string, [key, value]: JsonNode['members'][number]): Claim[] {
  const text = scalarOf(record.bytes, value)
  if (text === undefined) return []
  const path = below(at, key)
  const stems = stemsOf(key)
  const kind = record.persons.get(path)
  if (kind) return [{ owner: record.isForgotten(kind, text) ? 'forgotten' : 'other', stems }]
  if (record.declared.has(path)) return idKey.test(key) ? [{ owner: 'none', stems }] : []
  if (emailKey.test(key) && text.includes('@') && record.tells(text))
    return [{ owner: 'forgotten', stems: [key.replace(emailKey, '').toLowerCase()] }]
  const isKey = idKey.test(key)
  if ((isKey || text.length >= leastIdLength) && isAnyForgotten(record, text))
    return [{ owner: 'forgotten', stems }]
  return isKey && isId(text) && text !== 'null' ? [{ owner: 'none', stems }] : []
}

/** An object with an id and an e-mail address of its own describes another person. */
function claimsOf(record: RecordFields, at: string, { members }: JsonNode): Claim[] {
  const claims = members.flatMap(member => claimOf(record, at, member))
  const isForgotten = claims.some(({ owner }) => owner === 'forgotten')
  const hasAddress = members.some(
    ([key, value]) => emailKey.test(key) && scalarOf(record.bytes, value)?.includes('@'),
  )
  if (isForgotten || !hasAddress) return claims
  return claims.map(claim => (claim.stems.includes('') ? { ...claim, owner: 'other' } : claim))
}

interface Open {
  readonly node: JsonNode
  readonly at: string
  readonly key: string
  readonly owner: Owner | undefined
  readonly isDirect: boolean
}

const owns = (claims: readonly Claim[], owner: Owner): boolean => claims.some(claim => claim.owner === owner)

/** The id with the longest stem, else that of the object, else whoever the object above describes. */
function ownerOf(
  key: string,
  claims: readonly Claim[],
  { isWhole, isOpen, above }: { isWhole: boolean; isOpen: boolean; above: Owner | undefined },
): { owner: Owner | undefined; stem: string } {
  const [nearest] = claims
    .flatMap(({ owner, stems }) => stems.map(stem => ({ owner, stem })))
    .filter(({ stem }) => stem !== '' && startsWith(key, stem))
    .sort((one, other) => other.stem.length - one.stem.length)
  if (nearest) return nearest
  const own = isWhole ? claims.filter(({ stems }) => stems.includes('')) : []
  const owner = (['forgotten', 'other'] as const).find(
    one => owns(own, one) || (one === 'forgotten' && isOpen && owns(claims, one)),
  )
  return { owner: owner ?? above, stem: '' }
}

function membersOf(record: RecordFields, open: Open, containers: ReadonlySet<string>): Open[] {
  const { node, at } = open
  const claims = claimsOf(record, at, node)
  const isRoot = at === '' && record.isRow
  const place = {
    isWhole: !isRoot,
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

/** Undeclared values that an id gives to a forgotten person, or to another one; ids themselves are left out. */
export function describedLeaves(record: RecordFields, root: JsonNode): DescribedLeaf[] {
  const containers = new Set(
    [...record.declared].flatMap(path =>
      path.split('.').map((_, index, keys) => keys.slice(0, index).join('.')),
    ),
  )
  const found: DescribedLeaf[] = []
  const open: Open[] = [{ node: root, at: '', key: '', owner: undefined, isDirect: false }]
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

/** Whether a value under this key tells who somebody is, wherever else it stands. */
export const isIdentifying = ({ key, isDirect }: DescribedLeaf): boolean =>
  emailKey.test(key) || /e?-?mails$/i.test(key) || numberKey.test(key) || (isDirect && nameKey.test(key))
