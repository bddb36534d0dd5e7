/**
 * What each command prints on terminals of three widths, compared with a recording; `npm run accept -- recordings` writes it anew. Each command
 * runs once: what it shows is taken as it is shown at each width.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { beforeAll, describe, expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import type { Renderer, TerminalOutput } from '../../src/cli/terminal/terminal.ts'
import { seededRng } from '../../src/lib/rng.ts'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { type Body, openSandbox } from '../sandbox/open-sandbox.ts'
import { captured, muster } from '../support/captured-world.ts'
import { atEndOfFile } from '../support/ends.ts'
import { templateFile } from '../support/warehouse-fixture.ts'

const widths = [60, 100, 160]

/** The night after the day on which the sandbox's data ends. */
const night = Date.parse('2026-11-02T02:30:00.000Z')

/** As long on every machine, and so short that no table breaks it. */
const cwd = `/tmp/m${String(process.pid).padStart(7, '0')}`
atEndOfFile(async () => rmSync(cwd, { recursive: true, force: true }))

const sandbox = await openSandbox({ scale: 0.02 })
const [assignment] = sandbox.world.all('assignments') as Body[]
const [timesheet] = sandbox.world.all('timesheets') as Body[]

/** Stands still while a command runs; the next one begins a minute later. */
function nightClock() {
  let now = night
  return {
    now: () => now,
    // No time passes, but others get their turn.
    sleep: () => new Promise<void>(resolve => setTimeout(resolve, 5)),
    next: () => {
      now += 60_000
    },
  }
}

const [clock, rng] = [nightClock(), seededRng(1)]

interface Recorded {
  readonly line: string
  /** The key that it is tried with; that of a company without it. */
  readonly key?: string
  /** A command that runs until it is stopped, which happens as soon as it has printed this. */
  readonly until?: RegExp
  /** The beginning will do: it is a file for a program, the same at every width, or has figures that tests of its own look at. */
  readonly isDocument?: boolean
}

const stoppable = /Ctrl-C/

const recorded: readonly Recorded[] = [
  { line: 'init --sandbox --config made.yaml' },
  { line: 'config' },
  { line: 'config --connection other' },
  { line: 'schema', isDocument: true },
  { line: 'completion fish', isDocument: true },
  { line: 'man', isDocument: true },
  { line: 'doctor' },
  { line: 'plan' },
  { line: 'sync --quiet' },
  { line: 'plan sweep' },
  { line: 'build --quiet labour_spend_weekly worker_week' },
  { line: 'status' },
  { line: 'status --windows' },
  { line: 'status --all' },
  { line: 'check' },
  { line: 'sql select company_id, name, prefix, created_at, updated_at, row_hash from star.dim_company' },
  { line: 'sql select status, count(*) as timesheets from star.fact_timesheet group by 1 order by 1' },
  { line: 'metric timeToFill' },
  { line: 'metric workersOverHours' },
  { line: 'dashboard --out report.html' },
  { line: 'dashboard --port 0', until: stoppable },
  { line: 'docs --out dictionary.html' },
  { line: 'export --parquet exported' },
  { line: 'publish' },
  { line: `publish --quiet --company ${assignment.company.id}` },
  { line: 'mcp --seconds many' },
  { line: `get assignments ${assignment.id}`, isDocument: true },
  { line: 'get timesheets some-id' },
  { line: 'backfill timesheets --from 2026-10-01 --to 2026-10-07 --quiet' },
  { line: 'discover requisitions ids.txt' },
  { line: 'sweep sites --quiet' },
  { line: 'replay --quiet' },
  { line: 'crosscheck', isDocument: true },
  { line: 'runs' },
  { line: 'copy --from duckdb:w.duckdb --to duckdb:copied.duckdb --quiet' },
  { line: 'upgrade' },
  { line: 'dag list' },
  { line: 'dag run once' },
  { line: 'dag record once outcomes.json' },
  { line: 'dag export cron once', isDocument: true },
  { line: 'serve --port 0 --quiet', until: stoppable },
  { line: 'alerts' },
  { line: 'drift' },
  { line: 'lake publish' },
  { line: 'marts --sql spark --out spark' },
  { line: 'metrics', isDocument: true },
  { line: `forget worker ${timesheet.worker.id} --dry-run` },
  { line: 'fields' },
  { line: 'clean --fields --dry-run' },
  { line: 'retention' },
  { line: 'audit-pii' },
  { line: 'roles --dry-run' },
  { line: 'workers create workers.json --dry-run', key: sandboxKeys.agency },
  { line: 'workers update updates.json --dry-run', key: sandboxKeys.agency },
  {
    line: 'files upload card.pdf --resource worker --purpose attachments --record w',
    key: sandboxKeys.agency,
  },
  { line: 'sandbox --scale 0.001 --port 0', until: stoppable },
  { line: 'demo --scale 0.03 --changes 40 --quiet' },
  { line: 'stats' },
  { line: 'sync timesheet' },
  { line: 'sync --quiet', key: 'a-key-that-the-service-does-not-know' },
]

test('every command is recorded', () => {
  const isRecorded = (name: string) => recorded.some(({ line }) => `${line} `.startsWith(`${name} `))
  expect(Object.keys(commandSet.commands).filter(name => !isRecorded(name))).toEqual([])
})

interface Printed {
  readonly code: number
  /** As shown at each of the widths. */
  readonly texts: readonly string[]
}

const run = async ({ line, key = sandboxKeys.company, until }: Recorded): Promise<Printed> => {
  clock.next()
  const stopped = new AbortController()
  const texts = widths.map(() => '')
  const show = (render: Renderer): void => {
    for (const [at, width] of widths.entries()) texts[at] += render(width)
    if (until?.test(texts[0] ?? '')) stopped.abort(new Error('the recording is over'))
  }
  const stream: TerminalOutput = { write: text => show(() => text), show, columns: 100, isTTY: true }
  const env = {
    MUSTER_BASE_URL: sandbox.url,
    MUSTER_API_KEY: key,
    MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
  }
  const streams = { stdout: stream, stderr: stream }
  const { world } = captured({ cwd, env, ...streams, clock, rng, signal: stopped.signal })
  const { code } = await muster(`${line} --color never`, world)
  return { code, texts }
}

const zeros = (text: string): string => text.replace(/\d/g, '0')

/** What is another at the next run, on another machine or with the next table is shown as zeros. */
const settled = (text: string): string =>
  text
    .replaceAll(cwd, zeros)
    .replaceAll(new URL(sandbox.url).port, zeros)
    .replaceAll(/127\.0\.0\.1:\d+/g, zeros)
    .replaceAll(/(?<=\d{8}T\d{9}Z-)[0-9a-z]{4}\b/g, '0000')
    .replaceAll(/\bv\d+\.\d+\.\d+\b/g, 'v0.0.0')
    .replaceAll(/\d+ of \d+ checks|\d+ wait for marts|(tables|views), [\d,]+ rows/g, zeros)
    .replaceAll(/\b[\d,.]+ (ms|s|[kMGT]B|seconds|tables|columns|views|files|distinct)\b/g, zeros)

const shortest = 12

function asRecorded({ line, isDocument = false }: Recorded, { code, texts }: Printed, at: number): string {
  const lines = settled(texts[at] ?? '').split('\n')
  const rest = lines.length - shortest
  const shown = isDocument && rest > 0 ? [...lines.slice(0, shortest), '[…]', ''] : lines
  return `$ muster ${settled(line)}\n${shown.join('\n')}exit ${code}\n`
}

/** Without a space there is no place to break it, and a command that people copy stays in one piece. */
const canBreak = (line: string): boolean => /\S\s+\S/.test(line.trim()) && !/^ +muster /.test(line)

const printed: Printed[] = []

beforeAll(async () => {
  mkdirSync(join(cwd, 'dags'), { recursive: true })
  copyFileSync(await templateFile(), join(cwd, 'w.duckdb'))
  writeFileSync(join(cwd, 'outcomes.json'), '{"tasks": [{"task": "check", "exitCode": 0}]}')
  writeFileSync(join(cwd, 'ids.txt'), 'REQ-1\nREQ-2\n')
  writeFileSync(join(cwd, 'workers.json'), '[{"firstName": "Sam"}]')
  writeFileSync(join(cwd, 'updates.json'), '[{"id": "w", "firstName": "Sam"}]')
  writeFileSync(join(cwd, 'card.pdf'), '%PDF-1.4\n')
  writeFileSync(
    join(cwd, 'dags', 'once.yaml'),
    'name: once\ndescription: Check it.\nschedule: 30 2 * * *\ntasks:\n  check:\n    run: check\n',
  )
  for (const one of recorded) printed.push(await run(one))
}, 300_000)

describe.each(widths)('at %i columns', columns => {
  test('every command prints what is recorded, and no line is wider', async () => {
    const at = widths.indexOf(columns)
    const texts = recorded.map((one, index) => asRecorded(one, printed[index] as Printed, at))
    await expect(texts.join('\n')).toMatchFileSnapshot(`golden/output-${columns}-columns.txt`)
    const wide = recorded
      .flatMap(({ isDocument }, index) => (isDocument ? [] : (printed[index]?.texts[at] ?? '').split('\n')))
      .filter(line => stringWidth(line) > columns && canBreak(line))
    expect(wide).toEqual([])
  })
})
