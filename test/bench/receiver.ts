/**
 * `npm run bench -- receiver`: the built program takes 1,000 valid events a second for 30 s on loopback, then a flood of
 * forgeries beside valid ones; prints how long answers took and what is in the warehouse afterwards.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../support/postgres-server.ts'
import { type Answered, sendGenuine } from './delivery.ts'
import { root } from './root.ts'
import { run } from './sync-run.ts'

const secret = 'bench-signing-secret'
const main = join(root, 'dist/main.js')
const floodSeconds = 10

/** From a process of its own, so that making forgeries takes nothing from whoever sends the valid ones. */
async function flood(url: string, perSecond: number): Promise<Answered> {
  const words = ['--import', 'tsx', 'test/bench/flood.ts', url, String(perSecond), String(floodSeconds)]
  const { stdout } = await run(process.execPath, words, { cwd: root, maxBuffer: 1e8 })
  return JSON.parse(stdout) as Answered
}

const at = (waits: readonly number[], share: number): string =>
  (waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0).toFixed(1)

function printAnswered(words: string, { waits, statuses, seconds, cpuSeconds }: Answered): void {
  const counted = Object.entries(statuses).map(
    ([status, count]) => `${count.toLocaleString('en')} x ${status}`,
  )
  const rate = Math.round(waits.length / seconds).toLocaleString('en')
  const cost = cpuSeconds === undefined ? '' : `; sender ${cpuSeconds.toFixed(1)} s of a core`
  console.log(
    `  ${words.padEnd(34)} ${rate} a second; p50 ${at(waits, 0.5)} ms, p90 ${at(waits, 0.9)} ms, p99 ${at(waits, 0.99)} ms, most ${at(waits, 1)} ms; ${counted.join(', ')}${cost}`,
  )
}

interface Place {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
}

async function startReceiver({ env, cwd }: Place): Promise<{ child: ChildProcess; url: string }> {
  const words = [main, 'serve', '--port', '0', '--no-schedule', '--json', '--quiet']
  const child = spawn(process.execPath, words, { env, cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const [first] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, url: (JSON.parse(String(first)) as { url: string }).url }
}

/** Resident memory in MB, and processor seconds so far. */
async function costOf({ pid }: ChildProcess): Promise<{ megabytes: number; cpuSeconds: number }> {
  const { stdout } = await run('ps', ['-o', 'rss=,cputimes=', '-p', String(pid)])
  const [kilobytes = 0, cpuSeconds = 0] = stdout.trim().split(/\s+/).map(Number)
  return { megabytes: Math.round(kilobytes / 1024), cpuSeconds }
}

/** Forgeries at a rate, or as many as are answered, beside 100 valid events a second. */
async function floodBeside(
  { child, url }: { child: ChildProcess; url: string },
  { perSecond, name }: { perSecond: number; name: string },
): Promise<{ acknowledged: readonly string[]; taken: number }> {
  const before = await costOf(child)
  const [beside, forged] = await Promise.all([
    sendGenuine(url, { secret, perSecond: 100, seconds: floodSeconds, name }),
    flood(url, perSecond),
  ])
  const after = await costOf(child)
  const rate =
    perSecond === 0 ? 'as many forged as are answered' : `${perSecond.toLocaleString('en')} forged a second`
  printAnswered(rate, forged)
  printAnswered('100 valid a second beside them', beside)
  console.log(
    `  receiver: ${after.cpuSeconds - before.cpuSeconds} s of a core; ${before.megabytes} MB before, ${after.megabytes} MB after`,
  )
  return { acknowledged: beside.acknowledged, taken: forged.statuses['202'] ?? 0 }
}

async function storedIds({ env, cwd }: Place): Promise<Set<string>> {
  const query = 'select event_id from star.fact_webhook_event'
  const words = [main, 'sql', query, '--json', '--limit', '200000']
  const { stdout } = await run(process.execPath, words, { env, cwd, maxBuffer: 1e8 })
  return new Set((JSON.parse(stdout) as { event_id: string }[]).map(row => row.event_id))
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
  const receiver = await startReceiver({ env, cwd: folder })
  const valid = await sendGenuine(receiver.url, { secret, perSecond: 1000, seconds, name: 'evt' })
  printAnswered(`1,000 valid a second for ${seconds} s`, valid)
  const asked = await floodBeside(receiver, { perSecond: 5000, name: 'amid' })
  const most = await floodBeside(receiver, { perSecond: 0, name: 'most' })
  const exits = once(receiver.child, 'exit')
  receiver.child.kill('SIGTERM')
  await exits
  const stored = await storedIds({ env, cwd: folder })
  const acknowledged = [valid, asked, most].flatMap(one => one.acknowledged)
  const lost = acknowledged.filter(id => !stored.has(id)).length
  console.log(
    `  ${stored.size.toLocaleString('en')} events stored, ${lost} acknowledged and lost, ${asked.taken + most.taken} forgeries taken`,
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
