/** GET /access-rule-mappings: rows, or groups by role or by rule. */

import type { Endpoint } from '../declare/endpoint.ts'
import { matchesText } from '../declare/filter.ts'
import {
  fieldsParameter,
  oneOfParameter,
  pageParameters,
  parseParameters,
  textParameter,
} from '../declare/parameters.ts'
import type { StoredRecord } from '../records/record.ts'
import { selectFields } from '../records/select-fields.ts'
import type { SortOrder } from '../records/sorted-order.ts'
import type { World } from '../world.ts'

const parameters = {
  ...pageParameters,
  groupBy: oneOfParameter(['role', 'rule']).optional(),
  role: textParameter.optional(),
  action: textParameter.optional(),
  query: textParameter.optional(),
  sortBy: oneOfParameter(['a', 'can', 'configKey']).default('a'),
  sortOrder: oneOfParameter(['asc', 'desc']).default('asc'),
  fields: fieldsParameter.optional(),
}

export const accessRuleMappings: Endpoint = {
  path: '/access-rule-mappings',
  parameters,
  answer: ({ world, query }) => {
    const asked = parseParameters(parameters, query)
    const { page, limit, fields, groupBy } = asked
    const searched = matchesText(['a', 'can', 'configKey'], asked.query ?? '')
    const rows = sorted(world, groupBy ? 'a' : asked.sortBy, groupBy ? 'asc' : asked.sortOrder).filter(
      row =>
        (asked.role === undefined || row.a === asked.role) &&
        (asked.action === undefined || row.can === asked.action) &&
        searched(row),
    )
    const found = groupBy === 'role' ? byRole(rows) : groupBy === 'rule' ? byRule(rows) : rows
    const data = found
      .slice((page - 1) * limit, page * limit)
      .map(row => (fields ? selectFields(row, fields) : row))
    return { data, meta: { page, limit, total: found.length } }
  },
}

function sorted(world: World, path: string, order: SortOrder): readonly StoredRecord[] {
  return world.ordered('accessRuleMappings', path, order).records()
}

function grouped(rows: readonly StoredRecord[], nameOf: (row: StoredRecord) => string): StoredRecord[][] {
  const groups = new Map<string, StoredRecord[]>()
  for (const row of rows) {
    const group = groups.get(nameOf(row))
    if (group) group.push(row)
    else groups.set(nameOf(row), [row])
  }
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, group]) => group)
}

function byRole(rows: readonly StoredRecord[]): StoredRecord[] {
  return grouped(rows, row => String(row.a)).map(rules => ({ a: rules[0]?.a, rules }))
}

/** The separator sorts below every letter, so groups are ordered by action, then by configKey. */
function byRule(rows: readonly StoredRecord[]): StoredRecord[] {
  return grouped(rows, row => `${row.can}\u0000${row.configKey ?? ''}`).map(rules => ({
    can: rules[0]?.can,
    ...(rules[0]?.configKey === undefined ? {} : { configKey: rules[0].configKey }),
    rules,
  }))
}
