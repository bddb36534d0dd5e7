/** Whether a JSON value can be stored in its column without becoming another value. */
import type { ColumnType } from '../../contract/fields/column.ts'
import { isId } from '../../contract/fields/record-id.ts'
import { isDay } from '../../lib/dates.ts'
import { storedTypes } from '../../warehouse/schema/column-type.ts'
import { expected } from './expected.ts'
import type { Form } from './forms.ts'

export interface Judgement {
  /** Why it cannot be stored. */
  readonly reason?: string
  /** Digits are lost: they have to be kept as text. */
  readonly isRounded?: true
  /** It says what it should in a form that the contract does not name: the type of the value as it came. */
  readonly otherForm?: string
}

export interface Judged extends Judgement {
  /** What a JSON text stands for; undefined for other values, and for a text that no reader of JSON will take. */
  readonly text?: string | undefined
}

const number = /^-?(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/

/** The places of the first and the last digit that is not 0, counted from the point: 12.5 has 1 and -1. */
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

const safeDigits = 15

/** As a double, a number of so many units of the last place is exact. */
const isExact = (text: string, behind: number): boolean =>
  Math.abs(Number(text)) * 10 ** behind < Number.MAX_SAFE_INTEGER

function ofNumber(text: string, type: ColumnType): Judgement {
  const { whole, behind } = storedTypes[type].digits ?? { whole: 0, behind: 0 }
  const edges = edgesOf(text)
  if (edges === 'zero') return {}
  if (!edges || edges.first >= whole) return { reason: `not ${expected[type as Form['kind']]}` }
  const isPlainInteger = behind === 0 && /^-?\d+$/.test(text)
  const isLong = edges.first - Math.max(edges.last, -behind) + 1 > safeDigits
  if (isLong && !isPlainInteger && !isExact(text, behind)) return { reason: 'more digits than can be kept' }
  return edges.last < -behind ? { isRounded: true } : {}
}

const time = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/

/** No engine has a year 0. */
const isDate = (day: string): boolean => isDay(day) && !day.startsWith('0000')

/** No place on Earth is further from UTC. */
const isOffset = (offset: string): boolean =>
  offset === 'Z' || (Number(offset.slice(1, 3)) <= 14 && Number(offset.slice(3).replace(':', '')) < 60)

function ofTime(text: string): Judgement {
  const reason = `not ${expected.timestamp}`
  const found = time.exec(text)
  if (!found || found[0].includes(',')) return { reason }
  const [, year, month, day, hour, minute, second = '0', fraction = '', offset] = found
  if (!isDate(`${year}-${month}-${day}`)) return { reason }
  if (hour === undefined) return { otherForm: 'day' }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return { reason }
  if (offset !== undefined && !isOffset(offset)) return { reason }
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

const unless = (isGood: boolean, kind: Form['kind']): Judgement =>
  isGood ? {} : { reason: `not ${expected[kind]}` }

function ofText(text: string, kind: Form['kind']): Judgement {
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

const isNumeric = (kind: Form['kind']): kind is 'number' =>
  kind !== 'object' && kind !== 'list' && kind !== 'id' && storedTypes[kind].digits !== undefined

/** Undefined for a text that no reader of JSON will take. */
function textOf(json: string): string | undefined {
  try {
    return JSON.parse(json) as string
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function judgementOf(value: string, isText: boolean, { kind }: Form): Judgement {
  if (isNumeric(kind)) {
    const judgement = ofNumber(value, kind)
    return isText && !judgement.reason ? { ...judgement, otherForm: 'string' } : judgement
  }
  if (kind === 'boolean') return unless(!isText && (value === 'true' || value === 'false'), kind)
  return isText ? ofText(value, kind) : unless(false, kind)
}

/** `json` is the value as it came, and not null. */
export function judge(json: string, form: Form): Judged {
  if (!json.startsWith('"')) return judgementOf(json, false, form)
  const text = textOf(json)
  return text === undefined ? {} : { ...judgementOf(text, true, form), text }
}
