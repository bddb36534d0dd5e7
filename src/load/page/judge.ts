/** Judges whether a JSON value can be stored in its column without changing. */
import type { ColumnType } from '../../contract/fields/column.ts'
import { isId } from '../../contract/fields/record-id.ts'
import { isDay } from '../../lib/dates.ts'
import { type StoredType, safeDigits, storedTypes } from '../../warehouse/schema/column-type.ts'
import type { ValueForm } from './forms.ts'

export interface ValueJudgement {
  /** Why it cannot be stored; absent when it can. */
  readonly reason?: string
  /** Digits are lost, so they have to be stored as text. */
  readonly isRounded?: true
  /** It has too many digits for DuckDB to convert it to a decimal exactly by itself. */
  readonly isLong?: true
  /** Valid, but in a form that the contract does not name: the type of the received value. */
  readonly otherForm?: string
}

export interface JudgedText extends ValueJudgement {
  /** The decoded JSON string; undefined for other values, and for a string that no JSON parser accepts. */
  readonly text?: string | undefined
}

/** What a place should hold, as worded in the quarantine. */
const expected: Readonly<Record<ColumnType | ValueForm['kind'], string>> = {
  object: 'an object',
  list: 'a list',
  id: 'an id',
  text: 'a text',
  url: 'an address',
  integer: 'a whole number',
  number: 'a number',
  money: 'an amount',
  quantity: 'a number',
  coordinate: 'a number',
  boolean: 'true or false',
  timestamp: 'a date and time',
  day: 'a day',
  dayMonthYear: 'a day as DD/MM/YYYY',
  json: 'JSON',
}

const number = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/

/** Positions of the first and last non-zero digits, counted from the decimal point: 12.5 gives 1 and -1. */
function edgesOf(text: string): { first: number; last: number } | 'zero' | undefined {
  const [, whole, behind = '', exponent = '0'] = number.exec(text) ?? []
  if (whole === undefined) return undefined
  const digits = whole + behind
  const first = digits.search(/[1-9]/)
  if (first === -1) return 'zero'
  const places = whole.length - 1 + Number(exponent)
  const last = digits.replace(/0+$/, '').length - 1
  return { first: places - first, last: places - last }
}

const isBeyondInteger = (value: bigint): boolean => BigInt.asIntN(64, value) !== value

/** Whether a number does not fit its column once it is rounded to the column's last place. */
function isBeyond(text: string, { whole, behind }: NonNullable<StoredType['digits']>): boolean {
  const units = Math.round(Number(text) * 10 ** behind)
  return behind === 0 ? isBeyondInteger(BigInt(units)) : Math.abs(units) >= 10 ** (whole + behind)
}

/** Up to this, the nearest double still identifies the exact number of units of the last place. */
const maxUnits = 2 ** 52

/** DuckDB converts a double to a decimal by multiplying it. */
const maxMultiplied = 10 ** safeDigits

function ofNumber(text: string, type: ColumnType): ValueJudgement {
  const { whole, behind } = storedTypes[type].digits ?? { whole: 0, behind: 0 }
  const reason = `not ${expected[type as ValueForm['kind']]}`
  const edges = edgesOf(text)
  if (edges === 'zero') return {}
  if (!edges || edges.first >= whole) return { reason }
  const isPlainInteger = behind === 0 && /^-?\d+$/.test(text)
  const units = Math.abs(Number(text)) * 10 ** behind
  const hasManyDigits = edges.first - Math.max(edges.last, -behind) + 1 > safeDigits
  if (hasManyDigits && !isPlainInteger && units >= maxUnits)
    return { reason: 'more digits than can be stored' }
  if (isPlainInteger ? isBeyondInteger(BigInt(text)) : isBeyond(text, { whole, behind })) return { reason }
  return {
    ...(edges.last < -behind && { isRounded: true }),
    ...(behind > 0 && units >= maxMultiplied && { isLong: true }),
  }
}

const time = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/

/** No engine has a year 0. */
const isDate = (day: string): boolean => isDay(day) && !day.startsWith('0000')

/** No place on Earth is further from UTC. */
const isOffset = (offset: string): boolean =>
  offset === 'Z' || (Number(offset.slice(1, 3)) <= 14 && Number(offset.slice(3).replace(':', '')) < 60)

/** Minutes ahead of UTC. */
function minutesOf(offset = 'Z'): number {
  const size = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(3).replace(':', ''))
  return offset.startsWith('-') ? -size : size
}

function ofTime(text: string): ValueJudgement {
  const reason = `not ${expected.timestamp}`
  const found = time.exec(text)
  if (!found || found[0].includes(',')) return { reason }
  const [, year, month, day, hour, minute, second, fraction = '', offset] = found
  if (!isDate(`${year}-${month}-${day}`)) return { reason }
  if (hour === undefined) return { otherForm: 'day' }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) return { reason }
  // DuckDB accepts no offset after a time without seconds.
  if (offset !== undefined && (second === undefined || !isOffset(offset))) return { reason }
  const ofDay = Number(hour) * 60 + Number(minute) - minutesOf(offset)
  if ((text.startsWith('0001-01-01') && ofDay < 0) || (text.startsWith('9999-12-31') && ofDay >= 1440))
    return { reason }
  return {
    ...(/[1-9]/.test(fraction.slice(6)) && { isRounded: true }),
    ...(offset === undefined && { otherForm: 'time without offset' }),
  }
}

function isDayText(text: string, shape: RegExp): boolean {
  const { year, month, day } = shape.exec(text)?.groups ?? {}
  return isDate(`${year}-${month}-${day}`)
}

const dayFirst = /^(?<day>\d\d)\/(?<month>\d\d)\/(?<year>\d{4})$/
const yearFirst = /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)$/

const unless = (isGood: boolean, kind: ValueForm['kind']): ValueJudgement =>
  isGood ? {} : { reason: `not ${expected[kind]}` }

function ofText(text: string, kind: ValueForm['kind']): ValueJudgement {
  switch (kind) {
    case 'id':
      return unless(isId(text), kind)
    case 'timestamp':
      return ofTime(text)
    case 'day':
      return unless(isDayText(text, yearFirst), kind)
    case 'dayMonthYear':
      return unless(text === '' || isDayText(text, dayFirst), kind)
    case 'text':
    case 'url':
      return {}
    default:
      return unless(false, kind)
  }
}

const isNumeric = (kind: ValueForm['kind']): kind is 'number' =>
  kind !== 'object' && kind !== 'list' && kind !== 'id' && storedTypes[kind].digits !== undefined

/** Undefined for a string that no JSON parser accepts. */
function textOf(json: string): string | undefined {
  try {
    return JSON.parse(json) as string
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function judgementOf(value: string, isText: boolean, { kind }: ValueForm): ValueJudgement {
  if (isNumeric(kind)) {
    // DuckDB accepts some strings with an exponent, but not all.
    if (isText && /e/i.test(value)) return unless(false, kind)
    const judgement = ofNumber(value, kind)
    return isText && !judgement.reason ? { ...judgement, otherForm: 'string' } : judgement
  }
  if (kind === 'boolean') return unless(!isText && (value === 'true' || value === 'false'), kind)
  return isText ? ofText(value, kind) : unless(false, kind)
}

/** `json` is the value as received, and not null. */
export function judge(json: string, form: ValueForm): JudgedText {
  if (!json.startsWith('"')) return judgementOf(json, false, form)
  const text = textOf(json)
  return text === undefined ? {} : { ...judgementOf(text, true, form), text }
}
