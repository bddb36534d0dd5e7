/** What a value of a drawn star may be, by the name and the type of its column. */
import type { PhysicalColumn } from '../../../src/warehouse/schema/physical.ts'
import { soughtWords } from './sought-words.ts'
import { limits, oneOf } from './worn-star.ts'

/** Two draws for a value, each SQL of a number from 0 to 999, and what the world of the star allows. */
interface Draw {
  readonly one: string
  readonly two: string
  readonly numbers: readonly number[]
  /** YYYY-MM-DD: the Sunday of the newest week, but for a few. */
  readonly newest: string
  /** Of the kind of record. */
  readonly statuses: readonly string[]
  /** How many ids the records have that such a column names. */
  readonly idsOf: (column: string) => { readonly key: string; readonly count: number }
}

const words: Readonly<Record<string, readonly string[]>> = {
  ...soughtWords,
  category: ['Accommodation', 'Bonus', 'Fuel', 'Driving hours', 'Tools'],
  credit_note_type: [...(soughtWords.invoice_type ?? []), 'other'],
  current_stage: [...(soughtWords.current_stage ?? []), 'offerMade', 'interviewed'],
  entity: ['assignment', 'rate', 'trade', 'requisition'],
  payment_json: [
    ...[
      'null',
      '{}',
      '[]',
      '""',
      '{"paymentDate":"2026-10-05"}',
      '{"paymentDate":"2026-10-05T23:30:00.000Z"}',
    ],
    ...['{"paymentDate":"2026-10-20T24:30:00Z"}', '{"paymentDate":"soon"}', '{"by":"BACS"}'],
  ],
  rule: ['mandatory', 'optional'],
  stage: [...(soughtWords.stage ?? []), 'another'],
}

const today = `date '2026-11-02'`
const nearLimits = [...limits, ...[14, 55, 57, -14, -28, -55, -56, -57, -83, -84, -85]]

/** Mostly of three months. */
const day = ({ one, two, newest }: Draw): string =>
  `(case when ${two} % 10 < 7 then date '${newest}' - ${one} % 100 + 12
    when ${two} % 10 < 9 then least(${today} - ${oneOf(nearLimits, one)}, date '${newest}' + 90)
    else date '${newest}' - ${one} % 500 end)`

/** Mostly a Sunday. */
const weekEnd = ({ one, two, newest }: Draw): string =>
  `(date '${newest}' - 7 * (case when ${two} % 3 = 0 then ${one} % 60 else ${one} % 9 end)
    + case ${two} % 17 when 0 then -1 when 1 then -2 when 2 then 7 when 3 then -3 when 4 then -4 when 5 then -6 else 0 end)`

const moment = (draw: Draw): string =>
  `cast(${draw.two} % 8 * interval '3 hours' + cast(${day(draw)} as timestamptz) as timestamptz)`

/** Some references are those of two records. */
const named = (kind: string, count: number, draw: string): string =>
  `'${kind} ' || (${draw} % ${Math.ceil(count * 0.8)} + 1)`

function text({ name }: PhysicalColumn, kind: string, draw: Draw): string {
  if (name === 'status') return oneOf([...draw.statuses, 'odd'], draw.one)
  const referred = /^(?:(.*)_)?reference$/.exec(name)
  if (referred) {
    const of = referred[1] ?? kind
    return named(of, draw.idsOf(`${of}_id`).count, draw.one)
  }
  const known = words[name]
  if (known) return oneOf(known, draw.one)
  return `'${name.replace(/^.*_/, '')} ' || (${draw.one} % 3)`
}

/** `kind` is that of the records of the table, such as timesheet. */
export function drawnValue(column: PhysicalColumn, kind: string, draw: Draw): string {
  const { name, sql } = column
  const { one, two } = draw
  if (name === 'is_deleted') return `${one} < 120`
  if (name === 'is_inferred') return `${one} < 80`
  if (sql === 'text' && /_(id|key)$/.test(name)) {
    const { key, count } = draw.idsOf(name)
    // Most name the first few, so that those have many rows and others hardly any.
    const some =
      count < 20 ? `case when ${two} < 850 then ${one} % 3 else ${one} % ${count} end` : `${one} % ${count}`
    return `case when ${two} < 100 then '-1' else '${key} ' || (${some} + 1) end`
  }
  if (sql === 'text') return text(column, kind, draw)
  if (/^is_shift_.*_active$/.test(name)) return `${one} % 4 = 0`
  if (sql === 'boolean') return `${one} % 2 = 0`
  if (name === 'week_ending_date') return weekEnd(draw)
  if (sql === 'date') return day(draw)
  if (sql === 'timestamptz') return moment(draw)
  if (/(ordinal|version)$/.test(name)) return `${one} % 4`
  if (/^shift_.*_(start|end)$/.test(name)) return oneOf([0, 6, 8, 17, 20, 22.5, 24, 25], one)
  if (sql === 'bigint') return oneOf([0, 0, 1, 1, 2, 2, 3, 4, 7, -1], one)
  return oneOf(draw.numbers, one)
}
