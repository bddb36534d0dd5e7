/** Runs the runner of the marts by spark-submit, for connections with the default settings. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { defaultDays } from '../../src/lib/day-rule.ts'
import type { SparkMarts } from '../../src/marts/spark/statements.ts'
import { sparkFiles } from '../../src/semantic/spark-project.ts'
import { filledAt } from '../support/filled-warehouse.ts'
import { sparkPlace } from '../support/spark.ts'

interface Submission {
  readonly made: SparkMarts
  readonly connections: readonly string[]
  /** Where run.py is written. */
  readonly folder: string
  readonly lake: string
  readonly out: string
  readonly marts: readonly string[]
  /** Beside those of Delta. */
  readonly jars?: readonly string[]
  readonly conf?: Readonly<Record<string, string>>
}

/** Few rows: what takes time is compiling and planning. */
const settings = {
  'spark.sql.shuffle.partitions': '1',
  'spark.sql.codegen.wholeStage': 'false',
  'spark.sql.codegen.factoryMode': 'NO_CODEGEN',
  'spark.sql.adaptive.enabled': 'false',
  'spark.databricks.delta.snapshotPartitions': '1',
  'spark.databricks.delta.stats.collect': 'false',
  'spark.ui.enabled': 'false',
}

/** The default of a compiler in one tier is full before all marts are planned, and Java goes on without a compiler. */
const codeCache = '-XX:ReservedCodeCacheSize=400m'

function optionsOf({ folder, lake, out, marts, jars = [], conf = {} }: Submission): string[] {
  const all = Object.entries({ ...settings, ...conf }).flatMap(([name, value]) => [
    '--conf',
    `${name}=${value}`,
  ])
  const java = ['--driver-memory', '2g', '--driver-java-options', `-XX:TieredStopAtLevel=1 ${codeCache}`]
  const given = ['--lake', lake, '--out', out, '--today', filledAt.slice(0, 10)]
  const few = marts.flatMap(name => ['--mart', name])
  const packages = ['--jars', [sparkPlace().jars, ...jars].join()]
  return ['--master', 'local[2]', ...packages, ...java, ...all, join(folder, 'run.py'), ...given, ...few]
}

/** What it printed. The test fails with the lines in which it names a failure. */
export async function submitMarts(submission: Submission): Promise<string> {
  const { made, connections, folder } = submission
  const named = connections.map(name => ({ name, days: defaultDays, fiscalMonth: 4 }))
  for (const { path, content } of sparkFiles(made, named)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const { environment } = sparkPlace()
  const child = spawn(join(environment, 'bin/spark-submit'), optionsOf(submission), {
    env: { ...process.env, PYSPARK_PYTHON: join(environment, 'bin/python') },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', data => {
      said += data
    })
  const [status] = await once(child, 'close')
  const isFailure = new RegExp(`^(?:${connections.join('|')})\\b|(?:Error|Exception):`)
  const failures = said.split('\n').filter(line => !/written in/.test(line) && isFailure.test(line))
  expect([status, failures]).toEqual([0, []])
  return said
}
