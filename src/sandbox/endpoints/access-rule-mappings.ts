/** Serves GET /access-rule-mappings: rows, or groups by role or by rule. */
import { operations } from '../../contract/operations.ts'
import { accessRules } from '../../contract/resources/access-rules.ts'
import { groupBy } from '../../lib/group-by.ts'
import { endpoint } from '../declare/endpoint.ts'
import { matchesText, pageMeta, pageOf } from '../declare/list.ts'
import { parametersOf } from '../declare/parameters.ts'
import { closed, list, type NamedSchema, recordOf, refTo, text } from '../declare/schemas.ts'
import type { StoredRecord } from '../record.ts'
import { shuffledTies } from '../sorted-order.ts'

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
  within: 'everyone',
  collection: 'accessRuleMappings',
  meta: pageMeta,
  parameters: parametersOf(
    { ...operations.listAccessRules.parameters, ...operations.groupAccessRules.parameters },
    { sortBy: 'a', sortOrder: 'asc' },
  ),
  answer: ({ world, shuffle }, query) => {
    const { groupBy: grouping, role, action } = query
    const { sortBy, sortOrder } = grouping ? ({ sortBy: 'a', sortOrder: 'asc' } as const) : query
    const matches = matchesText(['a', 'can', 'configKey'], query.query ?? '')
    const order = world.ordered('accessRuleMappings', sortBy, sortOrder)
    const rows = order
      .records()
      .filter(row => (role ?? row.a) === row.a && (action ?? row.can) === row.can && matches(row))
    const mixed = shuffledTies(rows, row => order.keyOf(row), shuffle)
    const found = grouping === 'role' ? byRole(mixed) : grouping === 'rule' ? byRule(mixed) : mixed
    return pageOf(found, query, row => row)
  },
})

function grouped(rows: readonly StoredRecord[], nameOf: (row: StoredRecord) => string): StoredRecord[][] {
  return [...groupBy(rows, nameOf)]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, members]) => members)
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
