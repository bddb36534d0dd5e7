/**
 * npm run mutate [-- --only FOLDER-OR-FILE ... | --changed COMMIT] [--sql] [--survivors]
 * Alters the decisions of the core, and the SQL of marts and checks, one at a time, and prints, by folder, how many alterations
 * a quick test notices. `--sql` tries only SQL.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { folders } from './folders.ts'
import { everyStory } from './known/index.ts'
import { type FolderResult, formatSurvivor, formatTable, readReport } from './report.ts'
import { trySql } from './sql/try-sql.ts'
import { tryTexts } from './sql/try-texts.ts'

/** A folder of which fewer mutants are killed fails the run, equivalent ones aside. */
const minKilled = 0.9

/** Of the folders of `sql` whose statements marts and checks are made of. */
const sqlFolders = ['sql/mart', 'sql/check', 'sql/part']

/** Of the folders whose decisions stand partly in SQL of TypeScript files: merge and proof. */
const textFolders = ['src/load/merge/', 'src/state/scans/', 'src/state/evidence/']

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    changed: { type: 'string' },
    sql: { type: 'boolean' },
    survivors: { type: 'boolean' },
    concurrency: { type: 'string', default: '2' },
  },
})

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith(folder.startsWith('sql/') ? '.sql' : '.ts'))
    .map(name => join(folder, name))

function chosenFiles(): readonly string[] {
  const inStories = new Set(everyStory.map(({ file }) => file))
  const all = [...folders, ...sqlFolders].flatMap(filesOf).filter(file => !inStories.has(file))
  if (values.only) return all.filter(file => values.only?.some(name => `${file}/`.startsWith(`${name}/`)))
  if (values.changed === undefined) return all
  const changed = execFileSync('git', ['diff', '--name-only', values.changed], { encoding: 'utf8' }).split(
    '\n',
  )
  return all.filter(file => changed.includes(file))
}

/** Beside all of TypeScript, which takes more than an hour, a sample of SQL has to be enough. */
const isWithoutChoice = !values.only && !values.sql && values.changed === undefined
if (isWithoutChoice) process.env.MUSTER_SQL_EVERY ??= '20'

const chosen = chosenFiles()
const chosenTypescript = values.sql ? [] : chosen.filter(file => file.endsWith('.ts'))
const chosenSql = chosen.filter(file => file.endsWith('.sql'))
const chosenTexts = chosen.filter(file => textFolders.some(folder => file.startsWith(folder)))
if (chosenTypescript.length + chosenSql.length + chosenTexts.length === 0) {
  console.log('no file of a mutated folder was chosen or changed')
  process.exit(0)
}
mkdirSync('.mutation', { recursive: true })

function tryTypescript(files: readonly string[]): readonly FolderResult[] {
  if (files.length === 0) return []
  const base = JSON.parse(readFileSync('stryker.config.json', 'utf8'))
  const config = '.mutation/config.json'
  const concurrency = Number(values.concurrency)
  writeFileSync(config, JSON.stringify({ ...base, mutate: files, concurrency }))
  const env = { ...process.env, NODE_OPTIONS: '--import tsx' }
  const { status } = spawnSync('npx', ['stryker', 'run', config], { stdio: 'inherit', env })
  if (status !== 0) process.exit(status ?? 1)
  return readReport(base.jsonReporter.fileName, new Set(files))
}

const results = [...tryTypescript(chosenTypescript), ...tryTexts(chosenTexts), ...trySql(chosenSql)]
const survivors = results.flatMap(result => result.survivors).filter(({ reason }) => reason === undefined)
if (values.survivors) console.log(survivors.map(formatSurvivor).join('\n'))
console.log(formatTable(results))
const weak = results.filter(
  ({ mutants, killed, survivors: all }) =>
    killed < minKilled * (mutants - all.filter(({ reason }) => reason !== undefined).length),
)
if (weak.length > 0) console.log(`under ${100 * minKilled}%: ${weak.map(({ folder }) => folder).join(', ')}`)
process.exit(weak.length > 0 && values.only === undefined ? 1 : 0)
