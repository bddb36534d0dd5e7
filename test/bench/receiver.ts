/**
 * `npm run bench -- receiver`: the built program takes 1,000 valid events a second for 30 s on loopback, then a flood of
 * forgeries beside valid ones; prints how long answers took and what is in the warehouse afterwards.
 */
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { startPostgres } from '../postgres/own-server.ts'
import { root, run } from './sync-run.ts'

const secret = 'bench-signing-secret'

interface Load {
  /** Requests a second, sent whether or not the ones before were answered. */
  readonly perSecond: number
  readonly seconds: number
  readonly isGenuine: boolean
  readonly name: string
}

interface Answered {
  /** Milliseconds from the moment it should have been sent; ascending. */
  readonly waits: readonly number[]
  readonly statuses: ReadonlyMap<number | 'none', number>
  readonly acknowledged: readonly string[]
}

function delivery(id: string, key: string) {
  const body = JSON.stringify({
    id,
    type: 'timesheet_approved',
    createdAt: new Date().toISOString(),
    data: { timesheet: { id: `t${id.length}${id.slice(-3)}` } },
  })
  const timestamp = new Date().toISOString()
  const signature = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-service-timestamp': timestamp,
    'x-service-signature': signature,
  }
  return { method: 'POST' as const, body, headers }
}

/** Open loop: a receiver that is late does not slow the sender down, so that its lateness is seen. */
async function send(url: string, { perSecond, seconds, isGenuine, name }: Load): Promise<Answered> {
  const dispatcher = new Agent({ connections: 64 })
  const waits: number[] = []
  const statuses = new Map<number | 'none', number>()
  const acknowledged: string[] = []
  const underWay: Promise<void>[] = []
  const one = async (id: string, due: number): Promise<void> => {
    let status: number | 'none' = 'none'
    try {
      const key = isGenuine ? secret : 'somebody else'
      const answer = await request(url, { ...delivery(id, key), dispatcher })
      await answer.body.dump()
      status = answer.statusCode
      if (status === 202) acknowledged.push(id)
    } catch {
      // Counted as none.
    }
    waits.push(performance.now() - due)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  const started = performance.now()
  for (let sent = 0; sent < perSecond * seconds; ) {
    const due = started + (sent / perSecond) * 1000
    if (due > performance.now()) await new Promise(resolve => setTimeout(resolve, 1))
    else {
      underWay.push(one(`${name}_${sent}`, due))
      sent += 1
    }
  }
  await Promise.all(underWay)
  await dispatcher.close()
  return { waits: waits.sort((left, right) => left - right), statuses, acknowledged }
}

const at = (waits: readonly number[], share: number): string =>
  (waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0).toFixed(1)

function tell(words: string, { waits, statuses }: Answered): void {
  const counted = [...statuses]
    .map(([status, count]) => `${count.toLocaleString('en')} x ${status}`)
    .join(', ')
  console.log(
    `  ${words.padEnd(34)} p50 ${at(waits, 0.5)} ms, p90 ${at(waits, 0.9)} ms, p99 ${at(waits, 0.99)} ms, most ${at(waits, 1)} ms; ${counted}`,
  )
}

async function measure(warehouse: string, folder: string, seconds: number): Promise<void> {
  const env = {
    ...process.env,
    MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
    MUSTER_API_KEY: 'bench',
    MUSTER_WAREHOUSE: warehouse,
    MUSTER_LANDING: join(folder, 'bench.landing'),
    MUSTER_WEBHOOK_SECRET: secret,
  }
  const main = join(root, 'dist/main.js')
  const child = spawn(
    process.execPath,
    [main, 'serve', '--port', '0', '--no-schedule', '--json', '--quiet'],
    {
      env,
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const [first] = (await once(child.stdout, 'data')) as [Buffer]
  const { url } = JSON.parse(String(first)) as { url: string }
  const valid = await send(url, { perSecond: 1000, seconds, isGenuine: true, name: 'evt' })
  tell(`1,000 valid a second for ${seconds} s`, valid)
  const [amid, flood] = await Promise.all([
    send(url, { perSecond: 100, seconds: 10, isGenuine: true, name: 'amid' }),
    send(url, { perSecond: 2000, seconds: 10, isGenuine: false, name: 'forged' }),
  ])
  tell('2,000 forged a second for 10 s', flood)
  tell('100 valid a second beside them', amid)
  const exits = once(child, 'exit')
  child.kill('SIGTERM')
  await exits
  const query = 'select event_id from star.fact_webhook_event'
  const { stdout } = await run(process.execPath, [main, 'sql', query, '--json', '--limit', '100000'], {
    env,
    cwd: folder,
    maxBuffer: 1e8,
  })
  const held = new Set((JSON.parse(stdout) as { event_id: string }[]).map(row => row.event_id))
  const lost = [...valid.acknowledged, ...amid.acknowledged].filter(id => !held.has(id)).length
  const forged = flood.statuses.get(202) ?? 0
  console.log(
    `  ${held.size.toLocaleString('en')} events held, ${lost} acknowledged and lost, ${forged} forgeries taken`,
  )
}

export async function benchReceiver(seconds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-receiver-'))
  const server = await startPostgres()
  try {
    console.log('DuckDB file')
    await measure(`duckdb:${join(folder, 'bench.duckdb')}`, folder, seconds)
    console.log('PostgreSQL')
    await measure(`${server.url}/postgres`, folder, seconds)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
