/** Temporary places outlive neither their process nor, where it was killed, the next command; never are they taken from a living one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeLeftovers } from '../../src/temporary/leftovers.ts'
import { keepRegistryIn, registryName, temporaryFolder } from '../../src/temporary/places.ts'

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'muster-places-'))

function registryFolder(): string {
  const folder = newFolder()
  keepRegistryIn(folder)
  return folder
}

const maker = `
import { writeFileSync } from 'node:fs'
import { keepRegistryIn, temporaryFolder, temporaryPlace } from './src/temporary/places.ts'
const [, folder, elsewhere] = process.argv
keepRegistryIn(folder)
writeFileSync(temporaryFolder(elsewhere + '/.muster-replay', 'test').path + '/page', 'raw')
const draft = temporaryPlace(elsewhere + '/w.duckdb.replay', 'test').path
for (const end of ['', '.wal']) writeFileSync(draft + end, 'raw')
console.log('made')
setInterval(() => {}, 1000)`

async function startMaker(folder: string, elsewhere: string) {
  const child = spawn(process.execPath, [
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    maker,
    folder,
    elsewhere,
  ])
  await once(child.stdout, 'data')
  return {
    async end(signal: NodeJS.Signals) {
      child.kill(signal)
      await once(child, 'exit')
    },
  }
}

/** One entry, changed as another process might have left it. */
function entryOf(
  folder: string,
  change: (entry: { path: string; owner: Record<string, unknown> }) => void,
): string {
  const name = readdirSync(join(folder, registryName))[0] ?? ''
  const file = join(folder, registryName, name)
  const entry = JSON.parse(readFileSync(file, 'utf8'))
  change(entry)
  writeFileSync(file, JSON.stringify(entry))
  return file
}

test('what a killed process made stays while it lives, and goes with the next command', async () => {
  const [folder, elsewhere] = [newFolder(), newFolder()]
  writeFileSync(join(elsewhere, 'w.duckdb'), 'kept')
  const maker = await startMaker(folder, elsewhere)
  expect(removeLeftovers([folder], 24)).toEqual({ removed: [], refused: [] })
  expect(readdirSync(elsewhere)).toHaveLength(4)
  await maker.end('SIGKILL')
  expect(removeLeftovers([folder], 24).removed).toHaveLength(2)
  expect(readdirSync(elsewhere)).toEqual(['w.duckdb'])
  expect(readdirSync(folder)).toEqual([])
})

test('another machine is believed to be alive as long as it shows itself; a number given out again is another process', () => {
  const folder = registryFolder()
  const place = temporaryFolder(join(folder, 'a'), 'test')
  const entry = entryOf(folder, ({ owner }) => Object.assign(owner, { host: 'elsewhere' }))
  expect(removeLeftovers([folder], 24).removed).toEqual([])
  utimesSync(entry, 1, 1)
  expect(removeLeftovers([folder], 24).removed).toMatchObject([{ path: place.path, purpose: 'test' }])
  expect(existsSync(place.path)).toBe(false)
  place.remove()
  temporaryFolder(join(folder, 'b'), 'test')
  entryOf(folder, ({ owner }) => Object.assign(owner, { started: '1' }))
  expect(removeLeftovers([folder], 24).removed).toHaveLength(1)
  expect(readdirSync(folder)).toEqual([])
})

test('what was being replaced when its process was killed is put back, unless something has taken its place', () => {
  const folder = registryFolder()
  const out = join(folder, 'out')
  const killedWhile = (made: string) => {
    const place = temporaryFolder(`${out}.replaced`, 'test')
    writeFileSync(join(place.path, 'made'), made)
    entryOf(folder, ({ owner }) => Object.assign(owner, { pid: 99999999 }))
    removeLeftovers([folder], 24)
    expect(readdirSync(folder)).toEqual(['out'])
  }
  killedWhile('first')
  expect(readFileSync(join(out, 'made'), 'utf8')).toBe('first')
  killedWhile('second')
  expect(readFileSync(join(out, 'made'), 'utf8')).toBe('first')
})

test('an entry that names a file of somebody else removes nothing', () => {
  const folder = registryFolder()
  writeFileSync(join(folder, 'precious'), '')
  temporaryFolder(join(folder, 'a'), 'test')
  const entry = entryOf(folder, one => {
    one.path = join(folder, 'precious')
    one.owner.pid = 99999999
  })
  removeLeftovers([folder], 24)
  expect(existsSync(join(folder, 'precious'))).toBe(true)
  utimesSync(entry, 1, 1)
  removeLeftovers([folder], 24)
  expect(existsSync(join(folder, 'precious'))).toBe(true)
})

test('pages that an earlier release left unregistered go as well, once they are old', () => {
  const folder = newFolder()
  for (const name of ['.muster-replay-Ab12Cd', '.muster-replay-Ef34Gh', '.muster-notes'])
    mkdirSync(join(folder, name))
  utimesSync(join(folder, '.muster-replay-Ab12Cd'), 1, 1)
  utimesSync(join(folder, '.muster-notes'), 1, 1)
  removeLeftovers([folder], 24)
  expect(readdirSync(folder).sort()).toEqual(['.muster-notes', '.muster-replay-Ef34Gh'])
})
