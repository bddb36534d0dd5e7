/**
 * `npm run bench -- dashboard`: the pages of the built program over 1,000,000 timesheets, on both engines: answers over
 * HTTP for every page and filter, each asked for the first time, and what a reader sees in Chromium. `dashboard duckdb`
 * and `dashboard postgres` measure one engine; MUSTER_BENCH_STAR and MUSTER_BENCH_MARTS
 * name files that keep star and the marts from one run to the next, MUSTER_BENCH_SERVER the address of a server with marts.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser, Page } from 'playwright-core'
import { pages } from '../../src/dashboard/pages/pages.ts'
import { chromiumFile, openChromium } from '../browser/chromium.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { backendsOf, processorMs } from './processor-time.ts'
import { root } from './root.ts'
import { median, run } from './sync-run.ts'

const count = 1_000_000

/** Of each kind a member in the middle, a pair of them, and dates. */
const filters = [
  'company=c3',
  'company=c7&company=c8',
  'project=p15',
  'site=s40',
  'agency=a7',
  'trade=t4',
  'from=2026-08-01',
  'from=2025-01-01&to=2025-06-30',
  'agency=a9&from=2026-01-01',
]

interface Measured {
  readonly page: string
  /** The page as it opens. */
  readonly opening: Took
  readonly filtered: readonly Took[]
}

async function startDashboard(warehouse: string): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [join(root, 'dist/main.js'), 'dashboard', '--port', '0', '--json'], {
    env: { ...process.env, MUSTER_WAREHOUSE: warehouse },
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      const [, address] = /"url": "([^"]+)"/.exec(line) ?? []
      if (address !== undefined) resolve(address)
    })
    child.once('exit', code => reject(new Error(`muster dashboard ended with ${code}`)))
  })
  return { process: child, url }
}

/** Milliseconds by the clock, and of processors. */
interface Took {
  readonly clock: number
  readonly processor: number
}

async function ask(url: string, path: string, processes: readonly number[]): Promise<Took> {
  const [started, before] = [performance.now(), processorMs(processes)]
  const answer = await fetch(new URL(path, url))
  if (!answer.ok) throw new Error(`${path} is answered ${answer.status}`)
  const text = await answer.text()
  if (/"failure":"/.test(text)) throw new Error(`${path}: ${/"failure":"[^"]*"/.exec(text)?.[0]}`)
  return { clock: performance.now() - started, processor: processorMs(processes) - before }
}

async function overHttp(url: string, processes: readonly number[]): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const { id } of pages) {
    const opening = await ask(url, `/api/pages/${id}`, processes)
    const filtered: Took[] = []
    for (const filter of filters) filtered.push(await ask(url, `/api/pages/${id}?${filter}`, processes))
    measured.push({ page: id, opening, filtered })
  }
  return measured
}

const drawn = `document.querySelectorAll('.panel .body > *').length > 0 && !document.querySelector('main[aria-busy]')`

/** From the start of the navigation to the first pixels, and to every panel of the page. */
async function seen(browser: Browser, address: string): Promise<{ paint: number; panels: number }> {
  // Waiting for a condition evaluates it as text, which the policy of the page refuses.
  const page: Page = await browser.newPage({ viewport: { width: 1280, height: 900 }, bypassCSP: true })
  try {
    await page.goto(address)
    await page.waitForFunction(drawn, undefined, { polling: 'raf' })
    const panels = (await page.evaluate('performance.now()')) as number
    const paint = (await page.evaluate(
      `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`,
    )) as number
    return { paint, panels }
  } finally {
    await page.close()
  }
}

const shown = (ms: number): string => `${Math.round(ms).toString().padStart(5)} ms`

/** A program that has just been started answers each page to a browser that has never seen it. */
async function inChromium(warehouse: string): Promise<void> {
  if (!chromiumFile) return console.log('  there is no Chromium here')
  const browser = await openChromium()
  const rounds: { paint: number; panels: number }[] = []
  try {
    await seen(browser, 'data:text/html,<main></main><div class="panel"><p class="body"><b>.</b></p></div>')
    for (const { id } of pages) {
      const { process: child, url } = await startDashboard(warehouse)
      const one = await seen(browser, `${url}?page=${id}`)
      child.kill('SIGINT')
      rounds.push(one)
      console.log(`  ${id.padEnd(12)} first paint ${shown(one.paint)}, every panel ${shown(one.panels)}`)
    }
  } finally {
    await browser.close()
  }
  console.log(
    `  slowest: first paint ${shown(Math.max(...rounds.map(one => one.paint)))}, every panel ${shown(Math.max(...rounds.map(one => one.panels)))}`,
  )
}

async function measure(warehouse: string): Promise<void> {
  const { process: child, url } = await startDashboard(warehouse)
  try {
    // The first question connects.
    await fetch(new URL('/api/choices', url))
    const backends = warehouse.startsWith('duckdb:') ? [] : await backendsOf(warehouse)
    const measured = await overHttp(url, [child.pid ?? 0, ...backends])
    for (const kind of ['clock', 'processor'] as const)
      for (const { page, opening, filtered } of measured) {
        const took = filtered.map(one => one[kind])
        console.log(
          `  ${page.padEnd(12)} ${kind.padEnd(9)} as it opens ${shown(opening[kind])}, filtered: median ${shown(median(took))}, slowest ${shown(Math.max(...took))}`,
        )
      }
  } finally {
    child.kill('SIGINT')
  }
  await inChromium(warehouse)
}

const script = (name: string, ...args: readonly string[]) =>
  run(process.execPath, ['--import', 'tsx', `test/bench/${name}`, ...args], { cwd: root, maxBuffer: 1e8 })

const muster = (warehouse: string, ...args: readonly string[]) =>
  run(process.execPath, [join(root, 'dist/main.js'), ...args], {
    env: { ...process.env, MUSTER_WAREHOUSE: warehouse },
    cwd: tmpdir(),
    maxBuffer: 1e8,
  })

async function onPostgres(star: string): Promise<void> {
  const { MUSTER_BENCH_SERVER: kept } = process.env
  if (kept !== undefined) return measure(kept)
  const server = await startPostgres()
  try {
    const warehouse = `${server.url}/postgres`
    await muster('', 'copy', '--from', `duckdb:${star}`, '--to', warehouse)
    await muster(warehouse, 'build')
    await measure(warehouse)
  } finally {
    await server.stop()
  }
}

async function onDuckdb(star: string, folder: string): Promise<void> {
  const file = process.env.MUSTER_BENCH_MARTS ?? join(folder, 'marts.duckdb')
  if (!existsSync(file)) {
    copyFileSync(star, file)
    await script('marts-build.ts', file)
  }
  await measure(`duckdb:${file}`)
}

export async function benchDashboard(engine?: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-bench-'))
  const star = process.env.MUSTER_BENCH_STAR ?? join(folder, 'star.duckdb')
  try {
    const { MUSTER_BENCH_MARTS: file, MUSTER_BENCH_SERVER: server } = process.env
    if (!existsSync(star) && file === undefined && server === undefined)
      await script('star-rows.ts', star, String(count))
    if (engine !== 'postgres') {
      console.log(`DuckDB, ${count.toLocaleString('en')} timesheets`)
      await onDuckdb(star, folder)
    }
    if (engine !== 'duckdb') {
      console.log(`PostgreSQL, ${count.toLocaleString('en')} timesheets`)
      await onPostgres(star)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
