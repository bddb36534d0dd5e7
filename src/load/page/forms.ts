/** Recognizes the plain form of each kind of value from its bytes; `judge.ts` judges all others. */
import type { Column, ColumnType } from '../../contract/fields/column.ts'
import { safeDigits, storedTypes } from '../../warehouse/schema/column-type.ts'
import { ascii } from './json-bytes.ts'

/** The form expected at a declared place. */
export interface ValueForm {
  readonly kind: 'object' | 'list' | 'id' | Exclude<ColumnType, 'json'>
  /**
   * Returns the position behind a value that is certainly of this form, or `notPlain`. Finds and judges it in one pass
   * over its bytes. The caller handles null.
   */
  afterPlain(bytes: Buffer, from: number): number
}

export const notPlain = -1

const { quote, backslash, comma, closeBrace, closeBracket, space } = ascii
const zero = 48
const nine = 57
const minus = 45
const point = 46
const longestId = 64

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= nine

const idBytes = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[A-Za-z0-9_.:-]/.test(String.fromCharCode(byte)) ? 1 : 0,
)

function afterPlainId(bytes: Buffer, from: number): number {
  if (bytes[from] !== quote) return notPlain
  let at = from + 1
  while (idBytes[bytes[at] as number] === 1) at += 1
  const length = at - from - 1
  // Exclude '-1', which means no id.
  const isId = length > 0 && length <= longestId && !(length === 2 && bytes[from + 1] === minus)
  return isId && bytes[at] === quote ? at + 1 : notPlain
}

const isEnd = (byte: number | undefined): boolean =>
  byte === comma || byte === closeBrace || byte === closeBracket || (byte !== undefined && byte <= space)

function plainNumber(whole: number, behind: number): ValueForm['afterPlain'] {
  const maxDigits = Math.min(whole, safeDigits - behind)
  return (bytes, from) => {
    const first = bytes[from] === minus ? from + 1 : from
    let at = first
    while (isDigit(bytes[at])) at += 1
    if (at === first || at - first > maxDigits) return notPlain
    if (bytes[at] === point) {
      const fraction = at + 1
      at = fraction
      while (isDigit(bytes[at])) at += 1
      if (at === fraction || at - fraction > behind) return notPlain
    }
    return isEnd(bytes[at]) ? at : notPlain
  }
}

/** Maximum days of each month. */
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
    // Only from the year 1000.
    bytes[at] !== zero &&
    two(bytes, at) < 100 &&
    two(bytes, at + 2) < 100 &&
    day > 0 &&
    day <= (daysOf[two(bytes, at + 5)] ?? 0)
  )
}

const colon = 58
const letterT = 84
const lowerT = 116
const lowerF = 102
const letterZ = 90

/** "2026-03-01T09:00:00.000Z", as most services write it, or without the fraction. */
function afterPlainTime(bytes: Buffer, from: number): number {
  if (bytes[from] !== quote) return notPlain
  const at = from + 1
  const hasFraction = bytes[at + 19] === point
  const end = at + (hasFraction ? 24 : 20)
  if (bytes[end] !== quote || bytes[end - 1] !== letterZ) return notPlain
  if (hasFraction && (two(bytes, at + 20) > 99 || !isDigit(bytes[at + 22]))) return notPlain
  const isTime =
    bytes[at + 10] === letterT &&
    bytes[at + 13] === colon &&
    bytes[at + 16] === colon &&
    two(bytes, at + 11) < 24 &&
    two(bytes, at + 14) < 60 &&
    two(bytes, at + 17) < 60 &&
    isDay(bytes, at)
  return isTime ? end + 1 : notPlain
}

function afterText(bytes: Buffer, from: number): number {
  if (bytes[from] !== quote) return notPlain
  const { length } = bytes
  let at = from + 1
  while (at < length) {
    const byte = bytes[at]
    if (byte === quote) return at + 1
    at += byte === backslash ? 2 : 1
  }
  return notPlain
}

/** In JSON no other word begins with these letters. */
function afterBoolean(bytes: Buffer, from: number): number {
  const first = bytes[from]
  const end = first === lowerT ? from + 4 : from + 5
  const isBoolean = first === lowerT || first === lowerF
  return isBoolean && isEnd(bytes[end]) ? end : notPlain
}

const never = (): number => notPlain

function plainOf(type: ColumnType): ValueForm['afterPlain'] {
  const { digits } = storedTypes[type]
  if (digits) return plainNumber(digits.whole, digits.behind)
  if (type === 'boolean') return afterBoolean
  if (type === 'timestamp') return afterPlainTime
  return type === 'text' || type === 'url' ? afterText : never
}

const forms = new Map<string, ValueForm>()

function formOf(kind: ValueForm['kind'], afterPlain: ValueForm['afterPlain']): ValueForm {
  const form = forms.get(kind) ?? { kind, afterPlain }
  forms.set(kind, form)
  return form
}

export const objectForm = formOf('object', never)
export const listForm = formOf('list', never)

/** Keys that hold ids in the contract. Elements of a list of ids refer to records. */
const isIdKey = (key: string, column: Column | undefined): boolean =>
  /^id$|^nanoid$|[a-z]Id$/.test(key) ||
  (key === '' && (column?.member !== undefined || column?.names !== undefined))

/** Undefined where any JSON is allowed. `key` is empty for a list element. */
export function leafForm(key: string, type: ColumnType, column: Column | undefined): ValueForm | undefined {
  if (type === 'json' || column?.isUntyped) return undefined
  if (type === 'text' && isIdKey(key, column)) return formOf('id', afterPlainId)
  return formOf(type, plainOf(type))
}
