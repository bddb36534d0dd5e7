/** Finds DAG files: those of the folder one works in, else those that come with the program. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { choiceOf } from '../../config/nearest.ts'
import { ConfigError, UsageError } from '../../lib/errors.ts'
import { type Dag, type DagText, parseDag } from './dag-file.ts'

/** The same depth below the package in `src` and in `dist`. */
const SHIPPED = fileURLToPath(new URL('../../../dags', import.meta.url))

export function dagFiles(cwd: string): readonly DagText[] {
  const own = join(cwd, 'dags')
  const folder = namesIn(own).length > 0 ? own : SHIPPED
  return namesIn(folder).map(name => {
    const file = join(folder, name)
    return { file: folder === own ? relative(cwd, file) : file, text: readFileSync(file, 'utf8') }
  })
}

/** Of every DAG there is. */
export function dagNames(cwd: string): readonly string[] {
  return dagFiles(cwd).map(nameOf)
}

/** A DAG is found by the name of its file. */
export function dagNamed(name: string, cwd: string, commands: readonly string[]): Dag {
  const files = new Map(dagFiles(cwd).map(source => [nameOf(source), source]))
  const source = files.get(name)
  if (!source) {
    throw new UsageError({ what: `there is no DAG named ${name}`, next: choiceOf(name, [...files.keys()]) })
  }
  const dag = parseDag(source, commands)
  if (dag.name === name) return dag
  throw new ConfigError({
    what: `${source.file}: name is ${dag.name}`,
    next: `it must be ${name}, like the file`,
  })
}

export function nameOf({ file }: DagText): string {
  return file.replace(/^.*[\\/]/, '').replace(/\.yaml$/, '')
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter(name => name.endsWith('.yaml'))
      .sort()
  } catch {
    return []
  }
}
