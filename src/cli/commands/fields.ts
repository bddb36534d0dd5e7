/** `muster fields`: prints the field policy, for the officer who signs it. */
import { fieldSettings, openIfSynced } from '../../app/connection/warehouse.ts'
import { counted } from '../../lib/counted.ts'
import { FieldPolicy } from '../../privacy/fields/policy.ts'
import { fingerprintOf, policyRows } from '../../privacy/fields/policy-rows.ts'
import { followedSince } from '../../privacy/fields/stored-policy.ts'
import type { CommandModule } from '../command.ts'
import type { CommandContext } from '../context.ts'
import { printJson, printLine, printTable } from '../terminal/output.ts'

/** Whether stored data follows the policy: the time since when, or a word. */
async function followedIn(context: CommandContext, policy: FieldPolicy): Promise<string> {
  const opened = await openIfSynced(context.connection(), context, { needs: 'ledger' })
  if (!opened) return 'nothing is stored yet'
  if (opened.isPublished) {
    await opened.handle.close()
    return 'unknown: only the published copy can be read'
  }
  try {
    const since = await followedSince(opened.handle, policy)
    if (since === undefined) return 'no: run muster clean --fields --dry-run'
    return since === null ? 'yes' : `yes, since ${new Date(since).toISOString()}`
  } finally {
    await opened.handle.close()
  }
}

export const command: CommandModule = {
  notes: [
    'A blocked field is never stored. A hashed one is stored as a keyed hash that is equal in all resources.',
    'Fields that the service does not document follow the same patterns. Kept fields match a pattern, but the model needs them.',
  ],
  lineage: 'none',
  examples: ['muster fields', 'muster fields --json'],
  async run(context) {
    const connection = context.connection()
    const policy = new FieldPolicy(fieldSettings(connection))
    const rows = policyRows(policy)
    const stored = await followedIn(context, policy)
    const fingerprint = fingerprintOf(policy)
    if (context.json) {
      const { rules, keyId = null } = policy
      printJson(context, { connection: connection.name, rules, keyId, fields: rows, stored, fingerprint })
      return 0
    }
    if (policy.isEmpty) {
      printLine(context, `connection ${connection.name} has no field policy: every field is stored`)
      return 0
    }
    printLine(context, `Field policy of connection ${connection.name}`)
    printTable(
      context,
      ['rule', 'treatment'],
      policy.rules.map(({ pattern, treatment }) => [pattern, treatment]),
    )
    printTable(
      context,
      ['resource', 'field', 'treatment', 'rule', { title: 'because', breaks: true }],
      rows.map(({ resource, field, treatment, rule, why }) => [resource, field, treatment, rule, why]),
    )
    const count = (treatment: string): number => rows.filter(one => one.treatment === treatment).length
    printLine(
      context,
      `${counted(count('block'), 'documented field')} blocked, ${count('hash')} hashed, ${count('kept')} kept`,
    )
    if (policy.keyId !== undefined) printLine(context, `key of the hashes: ${policy.keyId}`)
    printLine(context, `stored data follows it: ${stored}`)
    printLine(context, `sha256 of this policy: ${fingerprint}`)
    printLine(context, 'approved by ____________________ on ____________')
    return 0
  },
}
