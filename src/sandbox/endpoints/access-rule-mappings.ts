/** GET /access-rule-mappings: rows, or groups by role or by rule. */
import * as z from 'zod'
import { accessRules } from '../../contract/resources/access-rules.ts'
import { endpoint } from '../declare/endpoint.ts'
import { matchesText } from '../declare/filter.ts'
import { closed, list, type NamedSchema, refTo, text } from '../declare/json-schema.ts'
import { pageMeta, pageOf } from '../declare/page.ts'
import {
  fieldsParameter,
  pageParameters,
  searchParameter,
  sortParameters,
  textParameter,
} from '../declare/parameters.ts'
import { recordOf } from '../declare/record-schema.ts'
import type { StoredRecord } from '../records/record.ts'
import { shuffledTies } from '../records/ties.ts'

const mapping = recordOf('AccessRuleMapping', accessRules)
const group: NamedSchema = {
  name: 'AccessRuleGroup',
  schema: closed(
    { a: text, can: text, configKey: { type: ['string', 'null'] }, rules: list(refTo(mapping)) },
    { required: [] },
  ),
  uses: [mapping],
}

export const accessRuleMappings = endpoint({
  path: '/access-rule-mappings',
  keys: 'company',
  scope: 'read:companies',
  tool: 'list_access_rule_mappings',
  summary: 'What each role may do by default, row by row or in groups.',
  returns: {
    name: 'AccessRuleMappingOrGroup',
    schema: {
      description: 'A mapping, or a group when `groupBy` asks for them.',
      anyOf: [mapping, group].map(refTo),
    },
    uses: [mapping, group],
    shape: mapping.shape,
  },
  isList: true,
  collection: 'accessRuleMappings',
  meta: pageMeta,
  parameters: {
    ...pageParameters,
    groupBy: z.enum(['role', 'rule']).optional().describe('How mappings are grouped.'),
    role: textParameter.optional().describe('Only mappings of this role.'),
    action: textParameter.optional().describe('Only mappings of this action.'),
    query: searchParameter,
    ...sortParameters(['a', 'can', 'configKey'], 'a', 'asc'),
    fields: fieldsParameter,
  },
  answer: ({ world, shuffle }, query) => {
    const { groupBy, role, action } = query
    const { sortBy, sortOrder } = groupBy ? ({ sortBy: 'a', sortOrder: 'asc' } as const) : query
    const matches = matchesText(['a', 'can', 'configKey'], query.query ?? '')
    const order = world.ordered('accessRuleMappings', sortBy, sortOrder)
    const rows = order
      .records()
      .filter(row => (role ?? row.a) === row.a && (action ?? row.can) === row.can && matches(row))
    const mixed = shuffledTies(rows, row => order.keyOf(row), shuffle)
    const found = groupBy === 'role' ? byRole(mixed) : groupBy === 'rule' ? byRule(mixed) : mixed
    return pageOf(found, query, row => row)
  },
})

function grouped(rows: readonly StoredRecord[], nameOf: (row: StoredRecord) => string): StoredRecord[][] {
  const groups = new Map<string, StoredRecord[]>()
  for (const row of rows) {
    const known = groups.get(nameOf(row))
    if (known) known.push(row)
    else groups.set(nameOf(row), [row])
  }
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, members]) => members)
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
