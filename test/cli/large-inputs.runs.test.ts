/** Inputs that somebody names may be huge: little memory is used, a limit is told in one line, and a signal is heard. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { type Ended, start } from '../support/built-program.ts'
import { temporaryFolder } from '../support/captured-world.ts'

const cwd = temporaryFolder()

/** In megabytes: what the text of the largest input takes alone, and then as much again. */
const heap = { NODE_OPTIONS: '--max-old-space-size=200' }
const env = {
  MUSTER_BASE_URL: 'http://127.0.0.1:9/api/open/v1',
  MUSTER_API_KEY: 'mk_0123456789abcdef',
  MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
  ...heap,
}

/** `text` as often as it takes to fill so many megabytes. */
function write(name: string, [before, text, after]: readonly [string, string, string], megabytes = 60): void {
  const file = openSync(join(cwd, name), 'w')
  const bytes = Math.max(1, megabytes * 1_048_576)
  const chunk = text.repeat(Math.ceil(Math.min(bytes, 1_048_576) / text.length))
  writeSync(file, before)
  for (let written = 0; written < bytes; written += chunk.length) writeSync(file, chunk)
  writeSync(file, after)
  closeSync(file)
}

const soonMs = 5_000
/** In megabytes; the values of JSON take far more memory than its text. */
const sizes: Readonly<Record<string, number>> = { 'items.json': 1, 'large.json': 65 }
const worker = `${JSON.stringify({ firstName: 'Ann', trades: ['a'], address: { city: 'York' } })}\n`

test.each([
  ['lines.ndjson', ['', '{}\n', ''], 'lines.ndjson has more than 100,000 rows: split it into several'],
  ['workers.ndjson', ['', worker, ''], 'workers.ndjson has more than 100,000 rows'],
  ['items.json', ['[{}', ',{}', ']'], 'items.json has more than 100,000 rows'],
  ['columns.csv', ['a', ',a', '\n'], 'columns.csv has more than 1,000 columns at line 1'],
  ['rows.csv', ['firstName,lastName\n', 'Ann,Lee\n', ''], 'rows.csv has more than 100,000 rows'],
  ['large.json', ['[{}', ',{}', ']'], 'large.json has more than 64 MB, the limit of JSON'],
  ['keys.json', ['{"', 'k', '":1}'], `keys.json, row 1, ${'k'.repeat(100)}… is not a field`],
] as const)('workers create %s is refused with one line', async (name, parts, says) => {
  write(name, parts, sizes[name] ?? 60)
  const ended = await start(`workers create ${name} --dry-run`, { cwd, env }).ended
  expect([ended.code, ended.err]).toEqual([2, expect.stringContaining(says)])
  expect(ended.err.length).toBeLessThan(5_000)
})

test('reports the first mistake of a row, and at most a thousand rows', async () => {
  const keys = Array.from({ length: 5_000 }, (_, index) => `"wrong${index}":1`).join(',')
  write('wrong.ndjson', ['', `{${keys}}\n`, ''], 0)
  write('many.ndjson', ['', '{"wrong":1}\n', ''], 0.02)
  const one = await start('workers create wrong.ndjson --dry-run', { cwd, env }).ended
  expect(one.err).toMatch(/row 1 has 4,9\d\d more problems/)
  const many = await start('workers create many.ndjson --dry-run', { cwd, env }).ended
  expect(many.err.trimEnd().split('\n')).toHaveLength(1_001)
  expect(many.err).toMatch(/and [\d,]+ more problems: --json lists them all\n$/)
})

async function stopped(line: string, after: number): Promise<Ended> {
  const built = start(line, { cwd, env })
  await new Promise(resolve => setTimeout(resolve, after))
  built.signal('SIGTERM')
  const ended = await built.ended
  expect([ended.code, ended.milliseconds < soonMs]).toEqual([75, true])
  return ended
}

test('workers create that checks many rows hears SIGTERM, and says that nothing was sent', async () => {
  write('blank.ndjson', ['', '\n', worker])
  const { err } = await stopped('workers create blank.ndjson --dry-run', 1_500)
  expect(err).toBe('muster: stopped by SIGTERM: nothing of blank.ndjson was sent; run the command again\n')
})

/** In 24 hexadecimal digits, as the service gives them; one of zeros only is no id. */
function writeIds(name: string, count: number): void {
  const file = openSync(join(cwd, name), 'w')
  for (let first = 0; first < count; first += 10_000) {
    const ids = Array.from({ length: 10_000 }, (_, index) =>
      (first + index + 1).toString(16).padStart(24, '0'),
    )
    writeSync(file, `${ids.join('\n')}\n`)
  }
  closeSync(file)
}

test('discover of two million ids hears SIGTERM, keeps what it has noted, and goes on', async () => {
  writeIds('ids.txt', 2_000_000)
  const early = await stopped('discover trades ids.txt', 1_500)
  expect(early.err).toBe('muster: stopped by SIGTERM: no id was saved; run the command again\n')
  const built = start('discover trades ids.txt', { cwd, env })
  await expect.poll(() => built.err(), { timeout: 90_000 }).toMatch(/discover {2}[\d,]+ of 2,000,000 ids/)
  built.signal('SIGTERM')
  const { code, err, milliseconds } = await built.ended
  expect([code, milliseconds < soonMs]).toEqual([75, true])
  const [, noted = ''] =
    /stopped by SIGTERM: ([\d,]+) of 2,000,000 ids are saved; run the command again for the others\n$/.exec(
      err,
    ) ?? []
  const engine = await openDuckdb(join(cwd, 'w.duckdb'))
  const [row] = await engine.rows<{ n: unknown }>('select count(*) as n from ops.discovered')
  await engine.close()
  expect(Number(row?.n)).toBe(Number(noted.replaceAll(',', '')))
  expect(Number(row?.n)).toBeGreaterThan(0)
})

test('a mistake in the last line is reported before anything is recorded', async () => {
  write('late.csv', ['resource,id\n', 'trades,65f0c2a1b3d4e5f60718293a\n', 'nothing,1\n'], 1)
  const { code, err } = await start('discover late.csv', { cwd, env }).ended
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/^muster: no resource nothing is read by id \(late\.csv at line \d+\)/),
  ])
})

test('refused lines are counted, and the first thousand are named', async () => {
  write('odd.txt', ['65f0c2a1b3d4e5f60718293a\n', '../../me\n', ''], 0.05)
  const { out } = await start('discover trades odd.txt --json', { cwd, env }).ended
  const told = JSON.parse(out)
  expect(told).toMatchObject({ ids: 1, new: 1 })
  expect([told.refused > 5_000, told.refusedLines.length, told.refusedLines[0]]).toEqual([true, 1_000, 2])
})
