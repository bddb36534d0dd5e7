/** Landed pages that are damaged: named by the check and by the replay, which loads the others and ends with 3. */
import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandsOn } from '../cli/commands-on.ts'
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
    'is no Parquet file',
    folder => {
      rmSync(join(folder, 'manifest.json'))
      writeFileSync(join(folder, parquet), 'x'.repeat(50))
    },
  ],
]

describeOnEngines(
  'damaged landed pages',
  bench => {
    test('an archive is named, left out by the replay, and does not block the others', async () => {
      const { command, scan, folder } = await threeNights(await bench.warehouse())
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
      expect(replayed.code).toBe(3)
      expect(replayed.out).toContain(`damaged, and left out: ${scan}: ${parquet} has not`)
      const held = await command('sql --json select timesheet_id as id from star.fact_timesheet order by 1')
      expect(JSON.parse(held.out)).toEqual(['t0', 't5', 't9'].map(id => ({ id })))
      for (const [file, bytes] of kept) writeFileSync(file, bytes)
      expect((await command('replay')).code).toBe(0)
    }, 120_000)
  },
  'duckdb',
)

describeOnEngines('a landed page that breaks off', bench => {
  test('is named and left out, and the other pages load', async () => {
    const warehouse = await bench.warehouse()
    const { command } = await threeNights(warehouse)
    const last = readdirSync(warehouse.landing)
      .filter(name => !name.endsWith('.archive'))
      .sort()
      .at(-1) as string
    const page = readdirSync(join(warehouse.landing, last)).find(name => /^0.*json$/.test(name)) as string
    truncateSync(join(warehouse.landing, last, page), 40)
    const checked = await command('check landed_pages_readable')
    expect([checked.code, checked.out]).toEqual([3, expect.stringContaining(`${last}: ${page} breaks off`)])
    const replayed = await command('replay --accept-loss --json')
    expect([replayed.code, replayed.err]).toEqual([3, expect.not.stringContaining('muster: ')])
    expect(JSON.parse(replayed.out)).toMatchObject({ damaged: [{ scan: last, what: `${page} breaks off` }] })
  })
})
