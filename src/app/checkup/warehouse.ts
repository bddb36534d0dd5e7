/** Checks whether the warehouse can be written, without creating anything, and whether events can be verified. */

import { existsSync, statSync } from 'node:fs'
import type { Connection, WebhookSettings } from '../../config/connection.ts'
import { counted } from '../../lib/counted.ts'
import { existingTables } from '../../state/existing-tables.ts'
import { filling, hasReceivedEvents, type StoredEvents, storedEvents } from '../../state/inbox/figures.ts'
import { isBehind } from '../../state/migrations.ts'
import type { Engine } from '../../warehouse/engine.ts'
import { mayWrite, serverVersion } from '../../warehouse/postgres/catalogue.ts'
import { readersThatStore } from '../../warehouse/postgres/rights/roles.ts'
import { type ServerDefault, unexpectedDefaults } from '../../warehouse/postgres/settings.ts'
import { type CheckupFinding, fail, failed, ok, warn } from './finding.ts'

/** At most 128 bits of entropy; services issue 32 bytes or more. */
const minBytes = 16
const minCharacters = 8

const isVariable = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/
const placeholder = /change.?me|replace.?me|^your\b|placeholder|example/i

/**
 * Says what makes a signing secret easy to guess, without quoting it; undefined if nothing does. Anyone with the secret can
 * send events about any record.
 */
function weaknessOf(secret: string, headerPrefix: string): string | undefined {
  const bytes = Buffer.byteLength(secret)
  if (bytes < minBytes) return `has ${counted(bytes, 'byte')}, fewer than ${minBytes}`
  if (new Set(secret).size < minCharacters) return `has fewer than ${minCharacters} different characters`
  if (/^\d+$/.test(secret)) return 'has digits only'
  if (secret.toLowerCase().startsWith(headerPrefix.toLowerCase())) return 'begins like the headers'
  if (isVariable.test(secret)) return 'is the name of a variable'
  return placeholder.test(secret) ? 'is a placeholder' : undefined
}

interface WarehouseCheck {
  readonly finding: CheckupFinding
  /** Open for writing; undefined when there is no file, or it does not open. */
  readonly engine: Engine | undefined
}

/** The finding for a warehouse that this user may write. Throws MusterError for one of a later version. */
const written = async (engine: Engine, found: string): Promise<CheckupFinding> =>
  (await isBehind(engine))
    ? warn(
        'warehouse',
        `${found}, made by an earlier version of muster`,
        'run muster upgrade; the next sync does it as well',
      )
    : ok('warehouse', `${found}, can be written`)

/** `open` opens the file for writing, which proves that no other process has it open. */
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

/** The oldest version that supports the SQL of the warehouse. */
const minServer = 14

const server = 'server defaults'

/** Checks defaults for isolation, time limits and read-only; encoding and pooler are checked when a session opens. */
export async function defaultFindings(engine: Engine | undefined): Promise<CheckupFinding[]> {
  if (!engine?.isShared) return []
  const found = await engine.rows<ServerDefault>(unexpectedDefaults)
  if (found.some(({ name }) => name === 'default_transaction_read_only'))
    return [
      fail(
        server,
        'the database, the role or the server is read-only by default, so nothing can be written',
        'alter database or role … reset default_transaction_read_only, or name the primary in the address',
      ),
    ]
  const listed = (some: readonly ServerDefault[]): string =>
    some.map(({ name, value }) => `${name} = ${value}`).join(', ')
  const given = found.filter(one => one.is_given)
  if (given.length > 0)
    return [
      warn(
        server,
        `the address limits every session: ${listed(given)}`,
        'remove that from the address unless it is intended: a build that takes longer fails',
      ),
    ]
  return [
    ok(server, found.length === 0 ? 'nothing to replace' : `${listed(found)}: replaced in every session`),
  ]
}

/** `open` connects. Checks rights in the catalogue instead of writing. */
export async function checkServer(open: () => Promise<Engine>): Promise<WarehouseCheck> {
  let engine: Engine | undefined
  try {
    engine = await open()
    const version = await serverVersion(engine)
    const found = `${engine.location}, PostgreSQL ${version}`
    if (Number.parseInt(version, 10) < minServer)
      return {
        finding: fail('warehouse', `${found} is too old`, `use PostgreSQL ${minServer} or later`),
        engine,
      }
    const isMade = (await existingTables(engine)).has('run')
    if (!(await mayWrite(engine, isMade)))
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

/** Checks a right that only a superuser can revoke from everyone. */
export async function readerFindings(engine: Engine | undefined): Promise<CheckupFinding[]> {
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

const newSecret = 'create a new secret in the application; see "Change the secret" in docs/records.md'

function secretFindings({ secret, previousSecret, headerPrefix }: WebhookSettings): CheckupFinding[] {
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
): Promise<CheckupFinding[]> {
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

/** No finding while the inbox has room. `logged` is the bytes of events not loaded yet. */
export async function inboxFindings(
  engine: Engine | undefined,
  { bounds, logged }: { readonly bounds: StoredEvents; readonly logged: number },
): Promise<CheckupFinding[]> {
  const { events, bytes } = engine ? await storedEvents(engine) : { events: 0, bytes: 0 }
  const found = filling({ events, bytes: bytes + logged }, bounds)
  if (found === undefined) return []
  return [
    warn(
      'inbox',
      `${found}; muster serve refuses what does not fit`,
      'muster status shows what arrived; lower inboxDays and run muster retention, or raise inboxEvents and inboxMegabytes',
    ),
  ]
}
