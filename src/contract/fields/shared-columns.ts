/** Declares groups of columns that several records share. */
import {
  bookkeeping,
  type Column,
  type ColumnSource,
  derived,
  type FieldLeaf,
  money,
  named,
  number,
  personal,
  ref,
  related,
  text,
  timestamp,
} from './column.ts'

/** wdNightwork becomes wd_nightwork. */
const snake = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Columns that read these paths; their names are known at run time only. */
export type FieldColumns<At extends string, Value> = {
  readonly [Path in At as `at ${Path}`]: Column<FieldLeaf<Path, Value>>
}

export type FigureColumns<At extends string> = FieldColumns<At, number>

/** createdAt and updatedAt, which most records carry. */
export const changeTimes = {
  created_at: timestamp('createdAt', 'When the record was created.'),
  updated_at: bookkeeping(timestamp('updatedAt', 'When the record last changed.')),
}

export function phone(owner: string) {
  return {
    phone_country_code: personal(text('phone.countryCode', `Telephone country code of the ${owner}.`)),
    phone_number: personal(text('phone.number', `Telephone number of the ${owner}.`)),
  }
}

/** A cost code has no id of its own: company, name and description identify it; the table must carry company_id. */
export function costCode<const At extends string>(path: At) {
  return {
    cost_code_name: text(`${path}.name`, 'Name of the cost code.'),
    cost_code_description: text(`${path}.description`, 'What the cost code stands for.'),
    cost_code_id: {
      ...ref('', 'cost_code'),
      source: {
        from: 'derived',
        sql: `case when cost_code_name is null and cost_code_description is null then '-1'
              else md5(concat_ws('|', company_id, coalesce(cost_code_name, ''), coalesce(cost_code_description, ''))) end`,
      },
      description: "Made from company, name and description (md5); '-1' when there is no cost code.",
      member: {
        dimension: 'cost_code',
        attributes: {
          name: { from: 'derived', sql: 'cost_code_name' },
          description: { from: 'derived', sql: 'cost_code_description' },
          company_id: { from: 'derived', sql: 'company_id' },
        },
      },
    } satisfies Column,
  }
}

/** A thing without an id, identified by its name within a company; the table must carry company_id. */
export function namedInCompany<const At extends string>(path: At, thing: string, what: string) {
  const name = `${thing}_name`
  return {
    [name]: text(path, `${what}, by name.`),
    [`${thing}_id`]: {
      ...ref('', thing),
      source: {
        from: 'derived',
        sql: `case when ${name} is null then '-1' else md5(concat_ws('|', company_id, ${name})) end`,
      },
      description: `${what}: made from company and name (md5); '-1' when the record names none.`,
      member: {
        dimension: thing,
        attributes: {
          name: { from: 'derived', sql: name },
          company_id: { from: 'derived', sql: 'company_id' },
        },
      },
    },
  } as unknown as FieldColumns<At, string>
}

/** A person given by name and e-mail address without an id: identified by the address, else by the name. */
export function contact<const At extends string>(path: At, column: string, what: string) {
  const identity = `lower(coalesce(${column}__email, ${column}__name))`
  return {
    [column]: {
      ...ref('', 'contact', { name: `${path}.name`, email: `${path}.email` }),
      source: { from: 'derived', sql: `coalesce(md5(${identity}), '-1')` },
      description: `${what}: md5 of the e-mail address in lower case; '-1' when the record names no person.`,
    },
  } as unknown as FieldColumns<`${At}.${'name' | 'email'}`, string>
}

/**
 * The key that a purchase order shares with the assignments that give only its reference; '-1' without a reference. The
 * table must carry company_id.
 */
export const orderReference = (column: string): Column =>
  derived(
    'text',
    `case when ${column} is null then '-1' else md5(concat_ws('|', company_id, ${column})) end`,
    'md5 of company and reference: joins a purchase order to the inferred member that assignments with its reference refer to.',
  )

/** The purchase order of a record that gives only a reference: an inferred member, apart from the row read by id. */
export function purchaseOrder<const At extends string>(path: At) {
  return {
    purchase_order_reference: text(path, 'Reference of the purchase order.'),
    purchase_order_id: {
      ...related(orderReference('purchase_order_reference'), {
        of: 'purchase-orders',
        at: 'purchase_order_reference_key',
        share: 0.05,
        because:
          'an order that ends or is amended changes its assignments, but most assignments change for other reasons',
      }),
      description: `The inferred member of the purchase order: md5 of company and reference; '-1' when there is none.`,
      member: {
        dimension: 'purchase_order',
        attributes: {
          reference: { from: 'derived', sql: 'purchase_order_reference' },
          company_id: { from: 'derived', sql: 'company_id' },
          purchase_order_reference_key: { from: 'derived', sql: 'purchase_order_id' },
        },
      },
    } satisfies Column,
  }
}

/** Kinds of record with tags. They are assumed to share one set of tags, because the contract does not say. */
type TaggedKind = 'trade' | 'assignment' | 'purchase_order'

/** A tag, with the kind of record that carries it. */
export function tag<const At extends string>(
  path: At,
  on: TaggedKind,
  attributes: Record<string, string> = {},
) {
  const column = named(path, 'tag')
  const more = ref('', 'tag', attributes).member?.attributes
  const seen: ColumnSource = { from: 'derived', sql: 'true' }
  return {
    ...column,
    member: {
      dimension: 'tag',
      attributes: { ...column.member?.attributes, ...more, [`is_seen_on_${on}`]: seen },
    },
  }
}

export type RatePart = keyof typeof rateParts

const rateParts = { pay: 'Pay', emp: 'Employer cost', margin: 'Margin', charge: 'Charge' }

/** pay, emp, margin and charge below `path`, as columns that begin with `prefix`. */
export function rateSet<const At extends string>(path: At, prefix: string, what: string) {
  const parts = Object.entries(rateParts)
  return Object.fromEntries(
    parts.map(([part, label]) => [`${prefix}_${part}`, money(`${path}.${part}`, `${label} rate ${what}.`)]),
  ) as FigureColumns<`${At}.${RatePart}`>
}

/** Kinds of hour, by the keys that the service has for their rates and for their values. */
const hourKinds: Readonly<Record<string, string>> = {
  wd: 'weekday hours',
  wdNw: 'weekday nights',
  weNw: 'weekend nights',
  bh: 'bank holidays',
  bhNight: 'bank holiday nights',
  sat: 'Saturdays',
  sun: 'Sundays',
  ot: 'weekday overtime',
  wdBasic: 'weekday hours',
  wdOvertime: 'weekday overtime',
  wdNightwork: 'weekday nights',
  weNightwork: 'weekend nights',
  bankHoliday: 'bank holidays',
  bankHolidayNight: 'bank holiday nights',
  saturday: 'Saturdays',
  sunday: 'Sundays',
  saturdayNightwork: 'Saturday nights',
  sundayNightwork: 'Sunday nights',
}

/** Throws an Error for a key without words, because no description in the dictionary may be a bare key. */
function hoursNamed(key: string): string {
  const words = hourKinds[key]
  if (words === undefined) throw new Error(`${key} has no words in hourKinds`)
  return words
}

export function rateSets<const At extends string, const Key extends string>(
  path: At,
  keys: readonly Key[],
): FigureColumns<`${At}.${Key}.${RatePart | 'uplift'}`> {
  return Object.assign(
    {},
    ...keys.map(key => ({
      ...rateSet(`${path}.${key}`, `rate_${snake(key)}`, `for ${hoursNamed(key)}`),
      [`rate_${snake(key)}_uplift`]: number(`${path}.${key}.uplift`, `Uplift factor for ${hoursNamed(key)}.`),
    })),
  ) as FigureColumns<`${At}.${Key}.${RatePart | 'uplift'}`>
}

/** Value buckets below `path`, as columns that begin with `prefix`. */
export function buckets<const At extends string, const Key extends string>(
  path: At,
  prefix: string,
  keys: readonly Key[],
) {
  return Object.fromEntries(
    keys.map(key => [
      `${prefix}_${snake(key)}`,
      money(`${path}.${key}`, `${prefix === 'pay' ? 'Pay' : 'Charge'} for ${hoursNamed(key)}.`),
    ]),
  ) as FigureColumns<`${At}.${Key}`>
}
