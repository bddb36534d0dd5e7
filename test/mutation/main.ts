/**
 * npm run mutate [-- --only FOLDER-OR-FILE ... | --changed COMMIT] [--survivors]
 * Alters the decisions of the core one at a time and prints, by folder, how many alterations a test in memory notices.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { folders } from './folders.ts'
import { everyStory } from './known/index.ts'
import { formatSurvivor, formatTable, readReport } from './report.ts'

/** A folder of which fewer mutants are killed fails the run, equivalent ones aside. */
const minKilled = 0.9

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    changed: { type: 'string' },
    survivors: { type: 'boolean' },
    concurrency: { type: 'string', default: '2' },
  },
})

const filesOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => join(folder, name))

function chosenFiles(): readonly string[] {
  const inStories = new Set(everyStory.map(({ file }) => file))
  const all = folders.flatMap(filesOf).filter(file => !inStories.has(file))
  if (values.only) return all.filter(file => values.only?.some(name => `${file}/`.startsWith(`${name}/`)))
  if (values.changed === undefined) return all
  const changed = execFileSync('git', ['diff', '--name-only', values.changed], { encoding: 'utf8' }).split(
    '\n',
  )
  return all.filter(file => changed.includes(file))
}

const files = chosenFiles()
if (files.length === 0) {
  console.log('no file of a mutated folder was chosen or changed')
  process.exit(0)
}
const base = JSON.parse(readFileSync('stryker.config.json', 'utf8'))
mkdirSync('.mutation', { recursive: true })
const config = '.mutation/config.json'
writeFileSync(config, JSON.stringify({ ...base, mutate: files, concurrency: Number(values.concurrency) }))
const { status } = spawnSync('npx', ['stryker', 'run', config], { stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)

const results = readReport(base.jsonReporter.fileName, new Set(files))
const survivors = results.flatMap(result => result.survivors).filter(({ reason }) => reason === undefined)
if (values.survivors) console.log(survivors.map(formatSurvivor).join('\n'))
console.log(formatTable(results))
const weak = results.filter(
  ({ mutants, killed, survivors: all }) =>
    killed < minKilled * (mutants - all.filter(({ reason }) => reason !== undefined).length),
)
if (weak.length > 0) console.log(`under ${100 * minKilled}%: ${weak.map(({ folder }) => folder).join(', ')}`)
process.exit(weak.length > 0 && values.only === undefined ? 1 : 0)
