/** Groups of columns that several records share. */
import { type Column, money, number, personal, ref, text, timestamp } from './column.ts'

/** wdNightwork becomes wd_nightwork. */
const snake = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** createdAt and updatedAt, which most records carry. */
export const changeTimes = {
  created_at: timestamp('createdAt', 'When the record was created.'),
  updated_at: timestamp('updatedAt', 'When the record last changed.'),
}

export function phone(owner: string): Record<string, Column> {
  return {
    phone_country_code: personal(text('phone.countryCode', `Telephone country code of the ${owner}.`)),
    phone_number: personal(text('phone.number', `Telephone number of the ${owner}.`)),
  }
}

/** A cost code has no id of its own: company, name and description identify it; the table must carry company_id. */
export function costCode(path: string): Record<string, Column> {
  return {
    cost_code_name: text(`${path}.name`, 'Cost code.'),
    cost_code_description: text(`${path}.description`, 'What the cost code stands for.'),
    cost_code_id: {
      ...ref('', 'cost_code'),
      source: {
        from: 'derived',
        sql: `case when cost_code_name is null and cost_code_description is null then '-1'
              else md5(concat_ws('|', company_id, coalesce(cost_code_name, ''), coalesce(cost_code_description, ''))) end`,
      },
      description: 'md5 of company, name and description; -1 when there is no cost code.',
      member: {
        dimension: 'cost_code',
        attributes: {
          name: { from: 'derived', sql: 'cost_code_name' },
          description: { from: 'derived', sql: 'cost_code_description' },
          company_id: { from: 'derived', sql: 'company_id' },
        },
      },
    },
  }
}

const rateParts = { pay: 'pay', emp: 'employer cost', margin: 'margin', charge: 'charge' }

/** pay, emp, margin and charge below `path`, as columns that begin with `prefix`. */
export function rateSet(path: string, prefix: string, what: string): Record<string, Column> {
  const parts = Object.entries(rateParts)
  return Object.fromEntries(
    parts.map(([part, label]) => [`${prefix}_${part}`, money(`${path}.${part}`, `${what}: ${label}.`)]),
  )
}

export function rateSets(path: string, keys: readonly string[]): Record<string, Column> {
  return Object.assign(
    {},
    ...keys.map(key => ({
      ...rateSet(`${path}.${key}`, `rate_${snake(key)}`, `Rate ${key}`),
      [`rate_${snake(key)}_uplift`]: number(`${path}.${key}.uplift`, `Rate ${key}: uplift factor.`),
    })),
  ) as Record<string, Column>
}

/** Value buckets below `path`, as columns that begin with `prefix`. */
export function buckets(path: string, prefix: string, keys: readonly string[]): Record<string, Column> {
  return Object.fromEntries(
    keys.map(key => [`${prefix}_${snake(key)}`, money(`${path}.${key}`, `Value of ${key}, ${prefix} side.`)]),
  )
}
