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
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { start } from '../support/built-program.ts'
import { commandsOn } from '../support/command-lines.ts'
import { thorough } from '../support/long-suite.ts'
import { oneList } from '../support/one-list.ts'
import { openPlace } from '../support/synced-warehouse.ts'
import { describeOnEngines, syncOnce, type Warehouse } from '../support/warehouse-fixture.ts'

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
  const archives = readdirSync(join(warehouse.landing, 'archives')).sort()
  expect(archives).toHaveLength(2)
  const { command } = await commandsOn(warehouse, list)
  return { command, scan: archives[0] ?? '' }
}

/** The manifest of a scan, and its only file. */
function filesOf(landing: string, scan: string, folder: 'pages' | 'archives') {
  const [name = ''] = readdirSync(join(landing, folder, scan))
  return { manifest: join(landing, 'manifests', `${scan}.json`), file: join(landing, folder, scan, name) }
}

type Files = ReturnType<typeof filesOf>

function flip(file: string): void {
  const bytes = readFileSync(file)
  bytes[Math.floor(bytes.length / 2)]! ^= 1
  writeFileSync(file, bytes)
}

/** Each undone before the next. */
const damages: readonly (readonly [string, string, (files: Files) => void])[] = [
  ['one that is truncated', 'has 100 bytes instead of', ({ file }) => truncateSync(file, 100)],
  ['one that is longer', 'bytes instead of', ({ file }) => appendFileSync(file, 'PAR1')],
  ['one that is gone', 'is missing', ({ file }) => rmSync(file)],
  ['one with a flipped bit', 'has changed since it was written', ({ file }) => flip(file)],
  ['a manifest that breaks off', 'its manifest cannot be read', ({ manifest }) => truncateSync(manifest, 5)],
  ['a manifest with a flipped bit', 'its manifest cannot be read', ({ manifest }) => flip(manifest)],
  ['a lost manifest', 'its manifest is missing', ({ manifest }) => rmSync(manifest)],
]

/** What waits for somebody to write to it, links to themselves, and folders: in the place of each file of a scan that is a folder. */
const noFiles: readonly (readonly [string, (path: string) => void])[] = [
  ['a pipe', path => execFileSync('mkfifo', [path])],
  ['a link to itself', path => symlinkSync(path, path)],
  ['a folder', path => mkdirSync(path)],
]

test.each(noFiles)(
  '%s in the place of a landed file is named by the check and the replay, which do not wait for it',
  async (_, make) => {
    const place = await openPlace()
    expect((await place.command('sync sites --quiet')).code).toBe(0)
    const landing = join(place.cwd, 'w.landing')
    const scan = readdirSync(join(landing, 'pages')).find(name => name.endsWith('sites')) ?? ''
    const { manifest, file } = filesOf(landing, scan, 'pages')
    const env = {
      MUSTER_BASE_URL: 'http://127.0.0.1:9',
      MUSTER_API_KEY: sandboxKeys.company,
      MUSTER_WAREHOUSE: 'duckdb:w.duckdb',
    }
    for (const path of [manifest, file]) {
      const bytes = readFileSync(path)
      rmSync(path)
      make(path)
      const { code, err } = await start('replay --quiet', { cwd: place.cwd, env }).ended
      expect([path, code, err]).toEqual([path, 3, expect.not.stringMatching(/unexpected/)])
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
      const { command, scan } = await threeNights(warehouse)
      const check = 'check landed_pages_readable'
      expect((await command(check)).code).toBe(0)
      const files = filesOf(warehouse.landing, scan, 'archives')
      const kept = [files.file, files.manifest].map(name => [name, readFileSync(name)] as const)
      for (const [index, [name, what, damage]] of damages.entries()) {
        damage(files)
        const checked = await command(check)
        expect([name, checked.code]).toEqual([name, 3])
        expect(checked.out).toMatch(new RegExp(`^error landed_pages_readable: .*${scan}: .*${what}`))
        if (thorough || index === 0) {
          const all = await command('replay')
          expect([name, all.code, all.err]).toEqual([name, 3, expect.stringContaining(`damaged: ${scan}: `)])
        }
        for (const [file, bytes] of kept) writeFileSync(file, bytes)
      }
      damages[0]![2](files)
      const replayed = await command('replay --accept-loss')
      expect(replayed.code).toBe(0)
      expect(replayed.out).toContain(`damaged, and left out: ${scan}: ${basename(files.file)} has 100 bytes`)
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

/** Of a scan whose pages are files: what is done to it, and what is said of it then. */
const lost: readonly (readonly [string, string, (files: Files) => void])[] = [
  ['a page that breaks off', 'bytes instead of', ({ file }) => truncateSync(file, 40)],
  ['a page that is gone', 'is missing', ({ file }) => rmSync(file)],
  ['an empty page', 'has 0 bytes', ({ file }) => truncateSync(file, 0)],
  [
    'another page in its place',
    'has changed since it was written',
    ({ file }) => writeFileSync(file, readFileSync(file, 'utf8').replace('t9', 't8')),
  ],
  ['no manifest', 'its manifest is missing', ({ manifest }) => rmSync(manifest)],
  ['a manifest of nothing', 'its manifest cannot be read', ({ manifest }) => writeFileSync(manifest, '{}')],
  ['no pages', 'is missing', ({ file }) => rmSync(dirname(file), { recursive: true })],
]

describeOnEngines('a landed page that is damaged or gone', bench => {
  test('is named and left out, and the other pages load', async () => {
    const warehouse = await bench.warehouse()
    const { command } = await threeNights(warehouse)
    const last = readdirSync(join(warehouse.landing, 'pages')).find(name => /timesheets$/.test(name)) ?? ''
    const files = filesOf(warehouse.landing, last, 'pages')
    const kept = `${warehouse.landing}.kept`
    cpSync(warehouse.landing, kept, { recursive: true })
    for (const [name, what, damage] of thorough ? lost : lost.slice(3, 4)) {
      damage(files)
      const checked = await command('check landed_pages_readable')
      const says = expect.stringMatching(new RegExp(`${last}: .*${what}`))
      expect([name, checked.code, checked.out]).toEqual([name, 3, says])
      const refused = await command('replay')
      expect([name, refused.code, refused.err + refused.out]).toEqual([name, 3, says])
      rmSync(warehouse.landing, { recursive: true })
      cpSync(kept, warehouse.landing, { recursive: true })
    }
    lost[1]![2](files)
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
  test('are named: two manifests or folders that are swapped, and a scan that is there twice', async () => {
    const warehouse = await bench.warehouse()
    const { command, scan: first } = await threeNights(warehouse)
    const at = (folder: string, name: string): string => join(warehouse.landing, folder, name)
    const [, second = ''] = readdirSync(join(warehouse.landing, 'archives')).sort()
    const says = async (...whats: readonly string[]) => {
      for (const words of ['check landed_pages_readable', 'replay']) {
        const { code, out, err } = await command(words)
        for (const what of whats)
          expect([words, code, out + err]).toEqual([words, 3, expect.stringContaining(what)])
      }
    }
    const manifests = [at('manifests', `${first}.json`), at('manifests', `${second}.json`)] as const
    swap(...manifests)
    await says(`${first}: its manifest belongs to ${second}`, `${second}: its manifest belongs to ${first}`)
    swap(...manifests)
    const folders = [at('archives', first), at('archives', second)] as const
    swap(...folders)
    await says(`${first}: 000001_`, `${second}: 000001_`)
    swap(...folders)
    cpSync(at('archives', first), at('archives', `${first}-copy`), { recursive: true })
    await says(`${first}-copy: its manifest is missing`)
    cpSync(at('manifests', `${first}.json`), at('manifests', `${first}-copy.json`))
    await says(`${first}-copy: its manifest belongs to ${first}`)
    rmSync(at('manifests', `${first}-copy.json`))
    rmSync(at('archives', `${first}-copy`), { recursive: true })
    expect((await command('replay')).code).toBe(0)
  }, 120_000)
})
