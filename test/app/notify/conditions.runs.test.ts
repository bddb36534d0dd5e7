/** What changes in a warehouse is notified of over real HTTP and SMTP: once, together, and again when it was not sent. */

import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type NotificationContext, notifyOfChanges } from '../../../src/app/notify/notify.ts'
import { connectionNamed, loadStored } from '../../../src/config/settings.ts'
import type { Engine } from '../../../src/warehouse/engine.ts'
import { temporaryFolder } from '../../support/captured-world.ts'
import { atEndOfTest } from '../../support/ends.ts'
import { describeOnEngines } from '../../support/warehouse-fixture.ts'
import { mailServer } from '../../telemetry/mail-server.ts'

interface Message {
  readonly severity: string
  readonly notifications: readonly {
    readonly type: string
    readonly message: string
    readonly query: string | null
  }[]
}

async function hook(answer: () => number) {
  const messages: Message[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', part => {
      body += part
    })
    request.on('end', () => {
      messages.push(JSON.parse(body))
      response.writeHead(answer()).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEndOfTest(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  return { messages, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const now = Date.parse('2026-11-02T03:00:00Z')

const insertDrift = (engine: Engine, path: string, [kind, minute]: readonly [string, number]) =>
  engine.run(
    `insert into ops.schema_drift values ('timesheets', '${path}', '${kind}', 'text', 'r', timestamptz '2026-11-02 02:${minute}:00Z')`,
  )

/** One of each type. */
async function spoil(engine: Engine) {
  await insertDrift(engine, 'payBand', ['unknown field', 10])
  await insertDrift(engine, 'status', ['unknown value', 11])
  await insertDrift(engine, 'netHours', ['other form', 12])
  await engine.run(
    `insert into ops.quarantine (quarantine_id, resource, record_id, path, reason, payload, page, run_id, seen_at)
     values ('q', 'invoices', 'i1', 'total', 'not a number', '{"name": "Ada Planted"}', 'p', 'r', timestamptz '2026-11-02 02:00:00Z')`,
  )
  await engine.run(
    `insert into ops.run (run_id, command, arguments, state, started_at, finished_at, retries, requests, records_read, rows_inserted,
       rows_changed, rows_removed, records_unchanged, quarantined, program_version)
     values ('r', 'sync', '', 'done', timestamptz '2026-10-30 02:00:00Z', timestamptz '2026-10-30 02:10:00Z', 0, 0, 0, 0, 0, 0, 0, 0, '1')`,
  )
  await engine.run(
    `insert into ops.run_resource (run_id, resource, state, requests, records_read, rows_inserted, rows_changed, rows_removed,
       records_unchanged, quarantined) values ('r', 'sites', 'done', 0, 0, 0, 0, 0, 0, 0)`,
  )
  await engine.run(
    `insert into ops.api_usage (run_id, api_key_id, requests_today, remaining_today, observed_at, rate_limit_per_minute, rate_limit_per_day)
     values ('r', 'k1', 4900, 100, timestamptz '2026-11-02 02:00:00Z', 60, 5000)`,
  )
  await engine.run(
    `insert into star.dim_api_key (api_key_id, expires_at, is_deleted) values ('k1', timestamptz '2026-11-10 00:00:00Z', false)`,
  )
  await engine.run(
    `insert into ops.inbox (event_id, type, received_at, deliveries, state)
     values ('e', 'invoice.updated', timestamptz '2026-10-29 00:00:00Z', 1, 'done')`,
  )
  await engine.run(
    `insert into ops.sweep (sweep_id, resource, scope_id, state, started_at, run_id, total, seen, judged, missing)
     values ('s', 'users', 'x', 'implausible', timestamptz '2026-11-02 01:00:00Z', 'r', 1, 1, 20, 19)`,
  )
  await engine.run(
    `insert into ops.crosscheck (run_id, metric, group_by, group_key, group_label, figure, ours, theirs, verdict, definition_id, checked_at)
     values ('r', 'timeToFill', 'all', '', 'all', 'count', 1, 2, 'unexplained', 'd', timestamptz '2026-11-02 01:00:00Z')`,
  )
}

interface Place {
  readonly address: string
  readonly notify: string
}

function contextOf({ address, notify }: Place): NotificationContext & { readonly warnings: string[] } {
  const cwd = temporaryFolder()
  const file = join(cwd, 'muster.yaml')
  const warehouse = `"\${WAREHOUSE}"`
  writeFileSync(
    file,
    `connections:\n  acme:\n    warehouse: ${warehouse}\n    apiKey: \${KEY}\n    notify: ${notify}\n`,
  )
  const env = { WAREHOUSE: address, KEY: 'planted-key-1234', PASSWORD: 'planted-password' }
  const warnings: string[] = []
  return {
    connection: connectionNamed(loadStored({ cwd, env, configFile: file })),
    clock: { now: () => now },
    ...{ cwd, env, warnings },
    hide: text => text,
    warn: line => void warnings.push(line),
    signal: new AbortController().signal,
  }
}

describeOnEngines(
  'notifications',
  bench => {
    test('each type is sent once to every channel, together and without personal data, and again when it changes', async () => {
      const [web, mail] = [await hook(() => 200), await mailServer(() => undefined, 'planted-password')]
      const made = await bench.warehouse()
      await spoil(made.engine)
      await made.close()
      const notify = `{ url: "${web.url}", smtp: "smtp://muster@127.0.0.1:${mail.port}", smtpPassword: "\${PASSWORD}", emailFrom: m@example.com, emailTo: "a@example.com, b@example.com", webhookHours: 24 }`
      const context = contextOf({ address: made.address, notify })
      await notifyOfChanges(context)
      await notifyOfChanges(context)
      expect(context.warnings).toEqual([])
      expect(web.messages.map(({ severity }) => severity)).toEqual(['error'])
      const types = web.messages[0]?.notifications.map(({ type }) => type)
      expect(types?.toSorted()).toEqual(
        'budget crosscheck deletionsHeld freshness keyExpiry quarantine schemaDrift webhooksSilent'.split(
          ' ',
        ),
      )
      expect(mail.emails.map(({ to }) => to)).toEqual([['a@example.com', 'b@example.com']])
      expect(web.messages[0]?.notifications.find(({ type }) => type === 'schemaDrift')?.message).toBe(
        'timesheets differs from the contract: new field payBand, new value in status, changed type of netHours; values: select * from pii.unknown_value',
      )
      expect(JSON.stringify([web.messages, mail.emails])).not.toMatch(/planted/i)
    })

    test('a notification that a channel refused is sent to it again by the next command, and to no other', async () => {
      let [status, code]: [number, number | undefined] = [404, undefined]
      const [web, mail] = [await hook(() => status), await mailServer(() => code)]
      const made = await bench.warehouse()
      await insertDrift(made.engine, 'payBand', ['unknown field', 10])
      await made.close()
      const notify = `{ url: "${web.url}", smtp: "smtp://127.0.0.1:${mail.port}", emailFrom: m@example.com, emailTo: a@example.com }`
      const context = contextOf({ address: made.address, notify })
      await notifyOfChanges(context)
      expect(context.warnings).toEqual([expect.stringContaining('notify.url: it answered 404')])
      expect([web.messages.length, mail.emails.length]).toEqual([1, 1])
      status = 200
      await notifyOfChanges(context)
      expect([web.messages.length, mail.emails.length]).toEqual([2, 1])
      await made.open()
      await insertDrift(made.engine, 'grade', ['unknown field', 20])
      await made.close()
      code = 554
      await notifyOfChanges(context)
      expect(context.warnings.at(-1)).toContain('notify.email: the server answered 554')
      expect(web.messages.at(-1)?.notifications.map(({ message }) => message)).toEqual([
        'timesheets differs from the contract: new field grade',
      ])
      code = undefined
      await notifyOfChanges(context)
      expect([web.messages.length, mail.emails.length]).toEqual([3, 2])
    })

    test('a type that is off is not sent', async () => {
      const web = await hook(() => 200)
      const made = await bench.warehouse()
      await insertDrift(made.engine, 'payBand', ['unknown field', 10])
      await made.close()
      await notifyOfChanges(
        contextOf({ address: made.address, notify: `{ url: "${web.url}", types: { schemaDrift: off } }` }),
      )
      expect(web.messages).toEqual([])
    })
  },
  'all',
)
