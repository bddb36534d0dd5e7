/** Landed pages that are damaged: named by the check and by the replay, which loads the others and ends with 3. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { start } from '../cli/built.ts'
import { commandsOn } from '../cli/commands-on.ts'
import { openPlace } from '../cli/synced-warehouse.ts'
import { thorough } from '../thorough.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../warehouse/fixture.ts'
import { oneList } from '../warehouse/one-list.ts'

const sheet = (index: number, day: number): string => {
  const at = new Date(Date.UTC(2026, 2, day)).toISOString()
  return JSON.stringify({ id: `t${index}`, createdAt: at, updatedAt: at })
}

/** Three nights, of which the first two are archives. */
async function threeNights(warehouse: Warehouse) {
  const list = await oneList('/timesheets')
  for (const day of [1, 5, 9]) {
    // A record that is gone later is in the pages of its night only.
    list.records = [sheet(0, 1), sheet(day, day)]
    const clock = { now: () => Date.UTC(2026, 2, day, 12), sleep: async () => undefined }
    const effects = { clock }
    const { failure } = await syncOnce(list, warehouse, { request: { resources: ['timesheets'] }, effects })
    expect(failure).toBeUndefined()
  }
  const archives = readdirSync(warehouse.landing)
    .filter(name => name.endsWith('.archive'))
    .sort()
  expect(archives).toHaveLength(2)
  const { command } = await commandsOn(warehouse, list)
  const [first = ''] = archives
  const folder = join(warehouse.landing, first)
  return {
    command,
    scan: first.replace('.archive', ''),
    folder,
  }
}

const parquet = '000001.parquet'

/** Each undone before the next. */
const damages: readonly (readonly [string, string, (folder: string) => void])[] = [
  ['one that is truncated', 'has not', folder => truncateSync(join(folder, parquet), 100)],
  ['one that is longer', 'has not', folder => appendFileSync(join(folder, parquet), 'PAR1')],
  ['one that is gone', 'is missing', folder => rmSync(join(folder, parquet))],
  [
    'one with a flipped bit',
    'is not as it was written',
    folder => {
      const bytes = readFileSync(join(folder, parquet))
      bytes[Math.floor(bytes.length / 2)]! ^= 1
      writeFileSync(join(folder, parquet), bytes)
    },
  ],
  ['facts that break off', 'scan.json cannot be read', folder => truncateSync(join(folder, 'scan.json'), 5)],
  [
    'a lost manifest and no Parquet',
    'manifest.json is missing',
    folder => {
      rmSync(join(folder, 'manifest.json'))
      writeFileSync(join(folder, parquet), 'x'.repeat(50))
    },
  ],
]

/** What waits for somebody to write to it, links to themselves, and folders: in the place of each file of a scan that is a folder. */
const noFiles: readonly (readonly [string, (path: string) => void])[] = [
  ['a pipe', path => execFileSync('mkfifo', [path])],
  ['a link to itself', path => symlinkSync(path, path)],
  ['a folder', path => mkdirSync(path)],
]

test.each(noFiles)(
  '%s in the place of a landed file is named by the check and the replay, and waited for by nobody',
  async (_, make) => {
    const place = await openPlace()
    expect((await place.command('sync sites --quiet')).code).toBe(0)
    const landing = join(place.cwd, 'w.landing')
    const scan = readdirSync(landing).find(name => name.endsWith('sites')) ?? ''
    const files = readdirSync(join(landing, scan))
    expect(files).toHaveLength(3)
    const env = {
      MUSTER_BASE_URL: 'http://127.0.0.1:9',
      MUSTER_API_KEY: sandboxKeys.company,
      MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
    }
    for (const file of [...files.map(name => join(scan, name)), 'scans.jsonl']) {
      const path = join(landing, file)
      const bytes = readFileSync(path)
      rmSync(path)
      make(path)
      const { code, err } = await start('replay --quiet', { cwd: place.cwd, env }).ended
      expect([file, code, err]).toEqual([file, 3, expect.not.stringMatching(/unexpected/)])
      rmSync(path, { recursive: true })
      writeFileSync(path, bytes)
    }
  },
)

describeOnEngines(
  'damaged landed pages',
  bench => {
    test('an archive is named, left out by the replay, and does not block the others', async () => {
      const warehouse = await bench.warehouse()
      const { command, scan, folder } = await threeNights(warehouse)
      const check = 'check landed_pages_readable'
      expect((await command(check)).code).toBe(0)
      const names = readdirSync(folder)
      const kept = names.map(name => [join(folder, name), readFileSync(join(folder, name))] as const)
      for (const [index, [name, what, damage]] of damages.entries()) {
        damage(folder)
        const checked = await command(check)
        expect([name, checked.code]).toEqual([name, 3])
        expect(checked.out).toMatch(new RegExp(`^error landed_pages_readable: .*${scan}: .*${what}`))
        if (thorough || index === 0) {
          const all = await command('replay')
          expect([name, all.code, all.err]).toEqual([name, 3, expect.stringContaining(`damaged: ${scan}: `)])
        }
        for (const [file, bytes] of kept) writeFileSync(file, bytes)
      }
      damages[0]![2](folder)
      const replayed = await command('replay --accept-loss')
      expect(replayed.code).toBe(0)
      expect(replayed.out).toContain(`damaged, and left out: ${scan}: ${parquet} has not`)
      await warehouse.open()
      const held = 'select timesheet_id as id from star.fact_timesheet order by 1'
      expect(await warehouse.engine.rows(held)).toEqual(['t0', 't5', 't9'].map(id => ({ id })))
      await warehouse.close()
      for (const [file, bytes] of kept) writeFileSync(file, bytes)
      expect((await command('replay')).code).toBe(0)
    }, 120_000)
  },
  'duckdb',
)

const page = (folder: string): string => readdirSync(folder).find(name => /^0.*json$/.test(name)) as string

/** Of a scan whose pages are files: what is done to it, and what is said of it then. */
const lost: readonly (readonly [string, string, (folder: string, other: string) => void])[] = [
  ['a page that breaks off', 'bytes any more', folder => truncateSync(join(folder, page(folder)), 40)],
  ['a page that is gone', 'is missing', folder => rmSync(join(folder, page(folder)))],
  ['an empty page', 'has not', folder => truncateSync(join(folder, page(folder)), 0)],
  [
    'another page in its place',
    'is not as it was written',
    folder => {
      const file = join(folder, page(folder))
      writeFileSync(file, readFileSync(file, 'utf8').replace('t9', 't8'))
    },
  ],
  ['no facts', 'scan.json is missing', folder => rmSync(join(folder, 'scan.json'))],
  ['facts of nothing', 'scan.json has not', folder => writeFileSync(join(folder, 'scan.json'), '{}')],
  ['no journal', 'pages.jsonl is missing', folder => rmSync(join(folder, 'pages.jsonl'))],
  [
    'garbage as journal',
    'pages.jsonl cannot be read',
    folder => writeFileSync(join(folder, 'pages.jsonl'), 'x'),
  ],
  ['nothing left of it', 'its folder or archive is missing', folder => rmSync(folder, { recursive: true })],
]

describeOnEngines('a landed page that is damaged or gone', bench => {
  test('is named and left out, and the other pages load', async () => {
    const warehouse = await bench.warehouse()
    const { command } = await threeNights(warehouse)
    const last = readdirSync(warehouse.landing)
      .filter(name => /timesheets$/.test(name))
      .sort()
      .at(-1) as string
    const folder = join(warehouse.landing, last)
    const kept = `${warehouse.landing}.kept`
    cpSync(warehouse.landing, kept, { recursive: true })
    for (const [name, what, damage] of thorough ? lost : lost.slice(3, 4)) {
      damage(folder, kept)
      const checked = await command('check landed_pages_readable')
      const says = expect.stringMatching(new RegExp(`${last}: .*${what}`))
      expect([name, checked.code, checked.out]).toEqual([name, 3, says])
      const refused = await command('replay')
      expect([name, refused.code, refused.err + refused.out]).toEqual([name, 3, says])
      rmSync(warehouse.landing, { recursive: true })
      cpSync(kept, warehouse.landing, { recursive: true })
    }
    lost[1]![2](folder, kept)
    const replayed = await command('replay --accept-loss --json')
    expect([replayed.code, replayed.err]).toEqual([0, expect.not.stringContaining('muster: ')])
    expect(JSON.parse(replayed.out)).toMatchObject({
      damaged: [{ scan: last, what: expect.stringMatching(/^0.*json is missing$/) }],
    })
  })
})

function swap(one: string, other: string): void {
  const aside = `${one}.aside`
  renameSync(one, aside)
  renameSync(other, one)
  renameSync(aside, other)
}

describeOnEngines('landed pages under the name of another scan', bench => {
  test('are named, whole as they are: two that are swapped, and one that is there twice', async () => {
    const warehouse = await bench.warehouse()
    const { command } = await threeNights(warehouse)
    const folders = readdirSync(warehouse.landing).filter(name => name.includes('timesheets'))
    const [first = '', second = '', last = ''] = folders.sort().map(name => join(warehouse.landing, name))
    const scanOf = (folder: string): string => basename(folder, '.archive')
    const says = async (scan: string, of: string) => {
      const what = `${scanOf(scan)}: scan.json is that of ${scanOf(of)}`
      for (const words of ['check landed_pages_readable', 'replay']) {
        const { code, out, err } = await command(words)
        expect([words, code, out + err]).toEqual([words, 3, expect.stringContaining(what)])
      }
    }
    swap(first, second)
    await says(first, second)
    await says(second, first)
    swap(first, second)
    cpSync(last, `${last}-copy`, { recursive: true })
    await says(`${last}-copy`, last)
    rmSync(`${last}-copy`, { recursive: true })
    expect((await command('replay')).code).toBe(0)
  }, 120_000)
})
