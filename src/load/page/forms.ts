/** The plain form of each kind of leaf, told from its bytes; everything else is judged by `judge.ts`. */
import type { Column, ColumnType } from '../../contract/fields/column.ts'
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { ascii } from './json-bytes.ts'

/** What may stand at a declared place. */
export interface Form {
  readonly kind: 'object' | 'list' | 'id' | Exclude<ColumnType, 'json'>
  /** Whether the bytes from the first to the one before the last are surely a value of this form. Null is told before. */
  isPlain(bytes: Buffer, from: number, end: number): boolean
}

const { quote } = ascii
const zero = 48
const nine = 57
const minus = 45
const point = 46
const longestId = 64
/** Digits that survive being read as a double. */
const safeDigits = 15

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= nine

const idBytes = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9_.:-]/.test(String.fromCharCode(byte)) ? 1 : 0,
)

function isPlainId(bytes: Buffer, from: number, end: number): boolean {
  const length = end - from - 2
  // Two bytes may be '-1', which is none.
  if (
    bytes[from] !== quote ||
    length < 1 ||
    length > longestId ||
    (length === 2 && bytes[from + 1] === minus)
  )
    return false
  for (let at = from + 1; at < end - 1; at += 1) if (idBytes[bytes[at] as number] === 0) return false
  return true
}

function plainNumber(whole: number, behind: number): Form['isPlain'] {
  const most = Math.min(whole, safeDigits - behind)
  return (bytes, from, end) => {
    let at = bytes[from] === minus ? from + 1 : from
    const first = at
    while (at < end && isDigit(bytes[at])) at += 1
    if (at === first || at - first > most) return false
    if (at === end) return true
    if (bytes[at] !== point || end - at - 1 > behind) return false
    for (at += 1; at < end; at += 1) if (!isDigit(bytes[at])) return false
    return true
  }
}

/** Days of a month in any year. */
const daysOf = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const two = (bytes: Buffer, at: number): number => {
  const [tens, ones] = [bytes[at] as number, bytes[at + 1] as number]
  return isDigit(tens) && isDigit(ones) ? (tens - zero) * 10 + ones - zero : 100
}

function isDay(bytes: Buffer, at: number): boolean {
  const day = two(bytes, at + 8)
  return (
    bytes[at + 4] === minus &&
    bytes[at + 7] === minus &&
    // From year 1000.
    bytes[at] !== zero &&
    two(bytes, at) < 100 &&
    two(bytes, at + 2) < 100 &&
    day > 0 &&
    day <= (daysOf[two(bytes, at + 5)] ?? 0)
  )
}

const colon = 58
const letterT = 84
const letterZ = 90

/** "2026-03-01T09:00:00.000Z" as most services write it, or without the fraction. */
function isPlainTime(bytes: Buffer, from: number, end: number): boolean {
  const at = from + 1
  const last = end - 2
  const length = last - at + 1
  if (bytes[from] !== quote || bytes[last] !== letterZ || (length !== 24 && length !== 20)) return false
  if (length === 24 && (bytes[at + 19] !== point || two(bytes, at + 20) > 99 || !isDigit(bytes[at + 22])))
    return false
  return (
    bytes[at + 10] === letterT &&
    bytes[at + 13] === colon &&
    bytes[at + 16] === colon &&
    two(bytes, at + 11) < 24 &&
    two(bytes, at + 14) < 60 &&
    two(bytes, at + 17) < 60 &&
    isDay(bytes, at)
  )
}

const isText: Form['isPlain'] = (bytes, from) => bytes[from] === quote
const never = (): boolean => false
/** JSON has no other words beginning so. */
const isBoolean: Form['isPlain'] = (bytes, from) => bytes[from] === 116 || bytes[from] === 102

function plainOf(type: ColumnType): Form['isPlain'] {
  const { digits } = storedTypes[type]
  if (digits) return plainNumber(digits.whole, digits.behind)
  if (type === 'boolean') return isBoolean
  if (type === 'timestamp') return isPlainTime
  return type === 'text' || type === 'url' ? isText : never
}

const forms = new Map<string, Form>()

function formOf(kind: Form['kind'], isPlain: Form['isPlain']): Form {
  const form = forms.get(kind) ?? { kind, isPlain }
  forms.set(kind, form)
  return form
}

export const objectForm = formOf('object', never)
export const listForm = formOf('list', never)

/** Keys of ids in the contract. A list of ids names records. */
const isIdKey = (key: string, column: Column | undefined): boolean =>
  /^id$|^nanoid$|[a-z]Id$/.test(key) ||
  (key === '' && (column?.member !== undefined || column?.names !== undefined))

/** Undefined where any JSON may stand. `key` is empty for an element of a list. */
export function leafForm(key: string, type: ColumnType, column: Column | undefined): Form | undefined {
  if (type === 'json' || column?.isUntyped) return undefined
  if (type === 'text' && isIdKey(key, column)) return formOf('id', isPlainId)
  return formOf(type, plainOf(type))
}
