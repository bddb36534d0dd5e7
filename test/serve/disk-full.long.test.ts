/** A disk that fills up under the receiver, for real: 503, nothing acknowledged is lost, and it recovers by itself. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { migrate } from '../../src/state/migrate.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { openPostgres } from '../../src/warehouse/postgres/open.ts'
import { canMount, SmallDisk } from '../support/small-disk.ts'
import { canStart, SmallServer } from '../support/small-postgres.ts'
import { eventBody, post, SECRET, served, signed } from './served.ts'

/** Kilobytes: room for everything. */
const plenty = 262_144

/** Kept with its body, of 8 kB: a type that nobody knows. */
const large = (id: string) => signed(eventBody(id, 'disk_filled', { filler: 'x'.repeat(8000) }))

/** Posts until told to stop, in groups; notes what was answered. */
class Sender {
  readonly acknowledged = new Set<string>()
  readonly refused = new Set<string>()
  readonly #url: string
  readonly #name: string
  #sent = 0

  constructor(url: string, name: string) {
    this.#url = url
    this.#name = name
  }

  /** The statuses that came back. */
  async send(count: number): Promise<number[]> {
    const one = async (): Promise<number> => {
      this.#sent += 1
      const id = `${this.#name}_${this.#sent}`
      const status = await post(this.#url, large(id))
      const ids = status === 202 ? this.acknowledged : this.refused
      ids.add(id)
      return status
    }
    return Promise.all(Array.from({ length: count }, one))
  }

  /** Until nothing is taken any more. */
  async fill(): Promise<void> {
    for (let groups = 0; groups < 500; groups += 1) {
      const statuses = await this.send(40)
      expect(statuses.every(status => status === 202 || status === 503)).toBe(true)
      if (statuses.every(status => status === 503)) return
    }
    throw new Error('the disk does not fill up')
  }

  /** Until all is taken again, within ten seconds. */
  async recover(): Promise<void> {
    for (let tries = 0; tries < 50; tries += 1) {
      if ((await this.send(10)).every(status => status === 202)) return
      await wait(200)
    }
    throw new Error('events are refused although there is room')
  }
}

interface Held {
  readonly event_id: string
  readonly payload: string
}

/** Each acknowledged event once, with the beginning of its body. */
async function expectWhole(engine: Engine, acknowledged: ReadonlySet<string>): Promise<void> {
  const rows = await engine.rows<Held>('select event_id, payload from ops.inbox')
  const held = new Set(rows.map(row => row.event_id))
  expect(held.size).toBe(rows.length)
  expect([...acknowledged].filter(id => !held.has(id))).toEqual([])
  for (const { event_id: id, payload } of rows) expect(payload).toBe(String(large(id).body).slice(0, 2048))
  const facts = await engine.rows<{ n: number }>('select count(*) as n from star.fact_webhook_event')
  expect(Number(facts[0]?.n)).toBe(rows.length)
}

const health = async (url: string): Promise<number> => (await fetch(new URL('/health', url))).status

const skipped = ' (skipped: this system does not let its users mount a small disk)'

describe.skipIf(!canMount())(`a full disk under the event log${canMount() ? '' : skipped}`, () => {
  let disk: SmallDisk
  afterEach(() => disk.close())

  async function start(): Promise<{ url: string; pid: number }> {
    const out = join(disk.besides, 'serve.out')
    rmSync(out, { force: true })
    const pid = await disk.serve('--port 0 --no-schedule --json')
    for (let tries = 0; tries < 200; tries += 1) {
      await wait(50)
      const text = existsSync(out) ? readFileSync(out, 'utf8') : ''
      if (text.endsWith('\n}\n')) return { pid, url: (JSON.parse(text) as { url: string }).url }
    }
    throw new Error(readFileSync(join(disk.besides, 'serve.err'), 'utf8'))
  }

  async function end(pid: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    process.kill(pid, signal)
    while ((await disk.shell(`kill -0 ${pid}`)).code === 0) await wait(50)
  }

  async function expectHeld(acknowledged: ReadonlySet<string>): Promise<void> {
    expect((await disk.shell(`ls ${disk.folder}/w.inbox`)).out).toBe('')
    const engine = await openDuckdb(await disk.copyOut('w.duckdb'))
    await expectWhole(engine, acknowledged).finally(() => engine.close())
  }

  test.each([0, 16, 300, 4000])('with %i kB left: the process goes on when there is room', async room => {
    disk = new SmallDisk(plenty, environment)
    const { url, pid } = await start()
    const sender = new Sender(url, 'evt')
    expect(await sender.send(5)).toEqual([202, 202, 202, 202, 202])
    await wait(1500)
    await disk.resize((await disk.used()) + room)
    await sender.fill()
    expect(await health(url)).toBe(503)
    // Several drains find no room either, and several events arrive.
    for (let spell = 0; spell < 8; spell += 1) {
      await wait(1000)
      await sender.send(40)
    }
    const files = (await disk.shell(`ls ${disk.folder}/w.inbox | wc -l`)).out
    expect(Number(files)).toBeLessThan(12)
    await disk.resize(plenty)
    await sender.recover()
    expect(await health(url)).toBe(200)
    await end(pid, 'SIGTERM')
    await expectHeld(sender.acknowledged)
  })

  test('and killed while it is full: the next process brings in what was acknowledged', async () => {
    disk = new SmallDisk(plenty, environment)
    const { url, pid } = await start()
    const sender = new Sender(url, 'evt')
    await disk.resize((await disk.used()) + 300)
    await sender.fill()
    await end(pid, 'SIGKILL')
    await disk.resize(plenty)
    const next = await start()
    const later = new Sender(next.url, 'later')
    await later.recover()
    await end(next.pid, 'SIGTERM')
    await expectHeld(new Set([...sender.acknowledged, ...later.acknowledged]))
  })
})

const environment = {
  MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
  MUSTER_API_KEY: 'no key is needed for events that nobody knows',
  MUSTER_WEBHOOK_SECRET: SECRET,
}

describe.skipIf(!canStart())(`a full disk under the inbox of a server${canStart() ? '' : skipped}`, () => {
  test('is answered 503 until there is room', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'muster-full-'))
    const server = await SmallServer.start(20_000 + (process.pid % 30_000), 300_000)
    const address = { url: server.url, shown: 'a small server' }
    const engine = await openPostgres(address, { scratch: join(folder, 'tmp') })
    try {
      await migrate(engine, new Date().toISOString())
      await engine.run(`create tablespace small location '${await server.space(512)}'`)
      await engine.run('alter table ops.inbox set tablespace small')
      const borrowed = { close: async () => undefined, open: async () => undefined }
      const warehouse = { engine, address: server.url, landing: join(folder, 'landing'), ...borrowed }
      const running = await served(warehouse, { intervals: { quietMs: 600_000, latestMs: 600_000 } })
      const sender = new Sender(running.url, 'evt')
      await sender.fill()
      expect(await health(running.url)).toBe(503)
      await wait(1000)
      await sender.send(40)
      await server.resizeSpace(plenty)
      await sender.recover()
      expect(await health(running.url)).toBe(200)
      await running.stop()
      expect(running.log.join()).toContain('the disk of the server is full')
      await expectWhole(engine, sender.acknowledged)
    } finally {
      await engine.close()
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }, 60_000)
})
