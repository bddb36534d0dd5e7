/** Commands that write files: none replaces what it did not write, follows a link, or touches a warehouse and its pages. */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { formats } from '../../src/semantic/formats.ts'
import { openDuckdb } from '../../src/warehouse/duckdb/open.ts'
import { everyCommand, temporaryFolder } from '../support/captured-world.ts'
import { thorough } from '../support/long-suite.ts'
import { openPlace, type Place } from '../support/synced-warehouse.ts'

let place: Place
let folder: string

beforeAll(async () => {
  place = await openPlace()
  expect((await place.command('sync sites --quiet')).code).toBe(0)
})

beforeEach(() => {
  folder = temporaryFolder()
})

/** Options that name a file or a folder to write, and how each is tried here. */
const writing: Readonly<Record<string, (target: string) => string>> = {
  'dashboard --out': target => `dashboard --out ${target}`,
  'docs --out': target => `docs --out ${target}`,
  'docs --markdown': target => `docs --markdown ${target}`,
  'export --parquet': target => `export --parquet ${target}`,
  'marts --out': target => `marts --sql spark --out ${target}`,
  'metrics --file': target => `metrics --file ${target}`,
  'sql --parquet': target => `sql --parquet ${target} select 1 as one`,
  ...Object.fromEntries(
    formats.map(({ name }) => [`docs --${name}`, (target: string) => `docs --${name} ${target}`]),
  ),
}

/** In `test/publish/company.runs.test.ts`, as it takes a company. */
const triedElsewhere = ['publish --out']

test('every option that names an output is tried here', async () => {
  const named = (await everyCommand()).flatMap(([name, { options = [] }]) =>
    options
      .filter(({ flags }) => /<(file|folder)>/.test(flags))
      .map(({ flags }) => `${name} ${flags.split(' ')[0]}`),
  )
  const others = ['dag export --output', ...triedElsewhere]
  expect(named.sort()).toEqual([...Object.keys(writing), ...others].sort())
})

const guarded = thorough
  ? [
      'w.duckdb',
      'w.outputs',
      'w.landing',
      'w.landing/page',
      'w.published.duckdb/x',
      'w.published.duckdb.wal',
      './w.landing/../w.duckdb',
    ]
  : ['w.duckdb']

const oneLine = (what: string) => expect.stringMatching(new RegExp(`^muster: [^\\n]*${what}[^\\n]*\\n$`))

/** Everything below a folder, with its bytes. */
function contents(of: string): unknown {
  return readdirSync(of, { recursive: true, withFileTypes: true })
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      return [path, entry.isFile() ? readFileSync(path).toString('base64') : lstatSync(path).mode]
    })
    .sort()
}

async function expectRefused(line: string, what: string): Promise<void> {
  const before = contents(folder)
  const { code, out, err } = await place.command(line)
  expect({ code, out, err }).toEqual({ code: expect.any(Number), out: '', err: oneLine(what) })
  expect(code).toBeGreaterThan(0)
  expect(contents(folder)).toEqual(before)
}

describe.each(Object.entries(writing))('%s', (name, lineTo) => {
  const isFolder = name.startsWith('export')
  const targets: Readonly<Record<string, () => string>> = {
    'the file of somebody else': () => {
      writeFileSync(join(folder, 'theirs'), 'precious')
      return 'theirs'
    },
    'an empty file': () => {
      writeFileSync(join(folder, 'empty'), '')
      return 'empty'
    },
    'a folder with something in it': () => {
      mkdirSync(join(folder, 'full'))
      writeFileSync(join(folder, 'full', 'file'), 'precious')
      return 'full'
    },
    'a link to a file': () => {
      writeFileSync(join(folder, 'theirs'), 'precious')
      symlinkSync('theirs', join(folder, 'link'))
      return 'link'
    },
    'a link to nowhere': () => {
      symlinkSync('nowhere', join(folder, 'link'))
      return 'link'
    },
    'a pipe': () => {
      spawnSync('mkfifo', [join(folder, 'pipe')])
      return 'pipe'
    },
  }

  test.each(Object.entries(targets))('refuses %s', async (_, target) => {
    await expectRefused(lineTo(join(folder, target())), '(this is|there is|this file|holds|contains)')
  })

  test.each(guarded)('refuses %s, also when forced', async target => {
    const forced = isFolder ? '' : ' --force'
    const before = contents(dirname(place.file))
    expect(await place.command(lineTo(target) + forced)).toMatchObject({
      err: oneLine('(this is|there is)'),
    })
    expect(contents(dirname(place.file))).toEqual(before)
  })

  test.runIf(thorough)('replaces what it wrote itself', async () => {
    const target = join(folder, 'own')
    for (const _ of [1, 2]) expect(await place.command(lineTo(target))).toMatchObject({ code: 0, err: '' })
    expect(readdirSync(folder)).toEqual(['own'])
  })
})

test('files that the settings are made of are no outputs, also when forced, and where the settings are wrong', async () => {
  const settings = join(place.cwd, 'settings')
  mkdirSync(settings)
  const connection = (name: string) =>
    `connections:\n  ${name}:\n    baseUrl: http://127.0.0.1:9\n    apiKeyFile: ${name}.key\n    warehouse: duckdb:${name}.duckdb\n    webhook:\n      secret: file:${name}.hook\n`
  const files = ['one.key', 'two.key', 'one.hook', 'settings/one.yaml', 'settings/two.yaml']
  for (const name of ['one', 'two']) {
    writeFileSync(join(settings, `${name}.yaml`), connection(name))
    for (const end of ['key', 'hook']) writeFileSync(join(place.cwd, `${name}.${end}`), name)
  }
  writeFileSync(join(place.cwd, 'broken.yaml'), 'connections: {one: {nothing: 1}}')
  const before = [...files, 'broken.yaml'].map(file => readFileSync(join(place.cwd, file), 'utf8'))
  for (const file of files)
    expect((await place.command(`docs --force --out ${file} --config settings`)).err).toMatch(
      /^muster: this is (the settings file|a file that the settings name)/m,
    )
  const broken = await place.command('docs --force --out broken.yaml --config broken.yaml')
  expect([broken.code, broken.out]).toEqual([expect.any(Number), ''])
  expect([...files, 'broken.yaml'].map(file => readFileSync(join(place.cwd, file), 'utf8'))).toEqual(before)
})

test('dag export replaces its own files, and foreign ones when forced, but no link and no guarded file', async () => {
  const units = join(folder, 'units')
  const line = `dag export cron nightly --output ${units}`
  for (const _ of [1, 2]) expect(await place.command(line)).toMatchObject({ code: 0, err: '' })
  const [name = ''] = readdirSync(units)
  writeFileSync(join(units, name), 'precious')
  await expectRefused(line, 'muster did not write it')
  expect((await place.command(`${line} --force`)).code).toBe(0)
  rmSync(join(units, name))
  symlinkSync('nowhere', join(units, name))
  await expectRefused(`${line} --force`, 'this is a link')
  await expectRefused(
    'dag export cron nightly --force --output w.landing',
    'this is the folder of landed pages',
  )
})

test('two outputs of one command into one file are refused, by whatever names, and also with --force', async () => {
  mkdirSync(join(folder, 'real'))
  symlinkSync('real', join(folder, 'linked'))
  for (const [one, other] of [
    ['x', 'x'],
    ['real/x', 'linked/../real/x'],
    ['real/x', 'linked/x'],
  ])
    await expectRefused(
      `docs --force --out ${folder}/${one} --markdown ${folder}/${other}`,
      'two outputs would go to the same file',
    )
})

test.runIf(thorough)('with --force a foreign page is replaced, a link and a database never', async () => {
  writeFileSync(join(folder, 'theirs'), 'precious')
  linkSync(join(folder, 'theirs'), join(folder, 'second name'))
  expect((await place.command(`docs --force --out ${join(folder, 'theirs')}`)).code).toBe(0)
  expect(readFileSync(join(folder, 'theirs'), 'utf8')).toContain('written by muster docs')
  // A new file took the name: what has another name stays.
  expect(readFileSync(join(folder, 'second name'), 'utf8')).toBe('precious')
  symlinkSync('theirs', join(folder, 'link'))
  await expectRefused(`docs --force --out ${join(folder, 'link')}`, 'this is a link')
  await (await openDuckdb(join(folder, 'other.duckdb'))).close()
  await expectRefused(`docs --force --out ${join(folder, 'other.duckdb')}`, 'this is a DuckDB database')
  await expectRefused(`init --force --config ${join(folder, 'other.duckdb')}`, 'this is a DuckDB database')
  await expectRefused(`init --force --config ${join(folder, 'link')}`, 'this is a link')
})

describe('publish', () => {
  beforeEach(() => rmSync(place.published, { recursive: true, force: true }))

  const inTheWay: Readonly<Record<string, () => unknown>> = {
    'a text': () => writeFileSync(place.published, 'precious'),
    'a link': () => symlinkSync('w.duckdb', place.published),
    'a pipe': () => spawnSync('mkfifo', [place.published]),
    'a database of somebody else': async () => {
      const engine = await openDuckdb(place.published)
      await engine.run('create table warehouse.main.theirs as select 1 as n')
      await engine.close()
    },
  }

  test.each(Object.entries(inTheWay))('does not replace %s', async (_, make) => {
    await make()
    const before = lstatSync(place.published).ino
    expect(await place.command('publish')).toMatchObject({
      code: 2,
      out: '',
      err: oneLine('nothing was changed'),
    })
    expect(lstatSync(place.published).ino).toBe(before)
  })

  test.runIf(thorough)('replaces a foreign file when forced, and its own copies', async () => {
    writeFileSync(place.published, 'precious')
    expect((await place.command('publish --force')).code).toBe(0)
    expect((await place.command('publish')).code).toBe(0)
  })
})

test('the demo does not remove a folder that it did not make', async () => {
  const theirs = join(place.cwd, 'data', 'demo')
  mkdirSync(theirs, { recursive: true })
  writeFileSync(join(theirs, 'notes'), 'precious')
  expect(await place.command('demo')).toMatchObject({
    code: 2,
    err: oneLine('this folder was not made by the demo'),
  })
  expect(existsSync(join(theirs, 'notes'))).toBe(true)
})
