/** Checks of the warehouse: whether it can be written, without creating anything, and whether events can be verified. */

import { existsSync, statSync } from 'node:fs'
import type { Connection, WebhookSettings } from '../../config/connection.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { filling, hasReceivedEvents, type StoredEvents, storedEvents } from '../../state/inbox/figures.ts'
import { isBehind } from '../../state/recorded-structure.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { readersThatStore } from '../../warehouse/postgres/rights/roles.ts'
import { type Default, unlikelyDefaults } from '../../warehouse/postgres/settings.ts'
import { type Finding, fail, failed, ok, warn } from './finding.ts'
import { weaknessOf } from './webhook-secret.ts'

export interface WarehouseCheck {
  readonly finding: Finding
  /** Open for writing; undefined when there is no file, or it does not open. */
  readonly engine: Engine | undefined
}

/** Of a warehouse that this user may write. Throws MusterError for one of a later program. */
const written = async (engine: Engine, found: string): Promise<Finding> =>
  (await isBehind(engine))
    ? warn(
        'warehouse',
        `${found}, made by an earlier muster`,
        'run muster upgrade; the next sync does it as well',
      )
    : ok('warehouse', `${found}, can be written`)

/** `open` opens the file to write, which proves that no other process has it open. */
export async function checkFile(file: string, open: () => Promise<Engine>): Promise<WarehouseCheck> {
  if (!existsSync(file)) return { finding: ok('warehouse', `${file} will be created`), engine: undefined }
  let engine: Engine | undefined
  try {
    engine = await open()
    const size = `${(statSync(file).size / 1e6).toFixed(1)} MB`
    return { finding: await written(engine, `${file}, ${size}`), engine }
  } catch (error) {
    await engine?.close()
    return { finding: failed('warehouse', error), engine: undefined }
  }
}

/** The user must be allowed to create missing schemas, and to insert into existing ones. */
async function mayWrite(engine: Engine): Promise<boolean> {
  const isMade = (await existingTables(engine)).has('run')
  const [row] = isMade
    ? await engine.rows<{ may: boolean }>(`select has_table_privilege($1, 'insert') as may`, [
        `${engine.schema('ops')}.run`,
      ])
    : await engine.rows<{ may: boolean }>(
        `select has_database_privilege(current_database(), 'create') as may`,
      )
  return row?.may === true
}

/** The oldest version that supports the SQL of the warehouse. */
const leastServer = 14

const server = 'server defaults'

/** Isolation, limits of time and a database that is read-only; encoding and pooler are looked at when a session opens. */
export async function defaultFindings(engine: Engine | undefined): Promise<Finding[]> {
  if (!engine?.isShared) return []
  const found = await engine.rows<Default>(unlikelyDefaults)
  if (found.some(({ name }) => name === 'default_transaction_read_only'))
    return [
      fail(
        server,
        'the database, the role or the server is read-only by default, so nothing can be written',
        'alter database or role … reset default_transaction_read_only, or name the primary in the address',
      ),
    ]
  const listed = (some: readonly Default[]): string =>
    some.map(({ name, value }) => `${name} = ${value}`).join(', ')
  const given = found.filter(one => one.is_given)
  if (given.length > 0)
    return [
      warn(
        server,
        `the address limits every session: ${listed(given)}`,
        'take that out of the address unless it is meant: a build that takes longer fails',
      ),
    ]
  return [
    ok(server, found.length === 0 ? 'nothing to replace' : `${listed(found)}: replaced in every session`),
  ]
}

/** `open` connects. Rights are looked up, not tried. */
export async function checkServer(open: () => Promise<Engine>): Promise<WarehouseCheck> {
  let engine: Engine | undefined
  try {
    engine = await open()
    const [server] = await engine.rows<{ version: string }>(
      `select current_setting('server_version') as version`,
    )
    const version = server?.version.split(' ')[0] ?? ''
    const found = `${engine.location}, PostgreSQL ${version}`
    if (Number.parseInt(version, 10) < leastServer)
      return {
        finding: fail('warehouse', `${found} is too old`, `use PostgreSQL ${leastServer} or later`),
        engine,
      }
    if (!(await mayWrite(engine)))
      return {
        finding: fail(
          'warehouse',
          `${found}, cannot be written`,
          'connect as the user that loads, or grant this user the rights',
        ),
        engine,
      }
    return { finding: await written(engine, found), engine }
  } catch (error) {
    await engine?.close()
    return { finding: failed('warehouse', error), engine: undefined }
  }
}

/** Only a superuser can take this right from everybody. */
export async function readerFindings(engine: Engine | undefined): Promise<Finding[]> {
  const names = engine ? await readersThatStore(engine) : []
  if (names.length === 0) return []
  return [
    warn(
      'readers',
      `${names.join(', ')} may store large objects in the database`,
      'run muster roles once as a superuser, who alone may revoke this',
    ),
  ]
}

const newSecret = 'let the application make a new secret, as docs/webhooks.md says under "Change the secret"'

function secretFindings({ secret, previousSecret, headerPrefix }: WebhookSettings): Finding[] {
  const secrets = [
    { name: 'the signing secret', text: secret.reveal() },
    ...(previousSecret ? [{ name: 'the previous secret', text: previousSecret.reveal() }] : []),
  ]
  const weak = secrets.flatMap(({ name, text }) => {
    const weakness = weaknessOf(text, headerPrefix)
    return weakness === undefined ? [] : [warn('webhook', `${name} ${weakness}`, newSecret)]
  })
  if (!previousSecret)
    return weak.length > 0 ? weak : [ok('webhook', `a signing secret; headers begin with ${headerPrefix}`)]
  const remove = 'remove previousSecret once every webhook signs with the new one'
  const isSame = previousSecret.reveal() === secret.reveal()
  const found = isSame ? 'the previous secret is the signing secret' : 'two signing secrets are accepted'
  return [warn('webhook', found, remove), ...weak]
}

export async function webhookFindings(
  { webhook }: Pick<Connection, 'webhook'>,
  engine: Engine | undefined,
): Promise<Finding[]> {
  if (webhook) return secretFindings(webhook)
  if (!engine || !(await hasReceivedEvents(engine))) return []
  return [
    warn(
      'webhook',
      'events were received earlier, but there is no signing secret now',
      'set webhook.secret or MUSTER_WEBHOOK_SECRET: muster serve does not start without one',
    ),
  ]
}

/** Nothing where the inbox has room. `logged` are the bytes of events that are not loaded yet. */
export async function inboxFindings(
  engine: Engine | undefined,
  { bounds, logged }: { readonly bounds: StoredEvents; readonly logged: number },
): Promise<Finding[]> {
  const { events, bytes } = engine ? await storedEvents(engine) : { events: 0, bytes: 0 }
  const found = filling({ events, bytes: bytes + logged }, bounds)
  if (found === undefined) return []
  return [
    warn(
      'inbox',
      `${found}; muster serve refuses what does not fit`,
      'see muster status for what came; lower inboxDays and run muster retention, or raise inboxEvents and inboxMegabytes',
    ),
  ]
}
