/** Spark with Delta, from PyPI and Maven Central, kept for the next time. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NoEnvironment, pythonEnvironment } from './python-environment.ts'

const cache = fileURLToPath(new URL('../../node_modules/.cache/delta-jars', import.meta.url))
const artifacts = ['io.delta:delta-spark_2.12:3.3.2', 'io.delta:delta-storage:3.3.2']
/** Of the Hadoop that pyspark brings; 280 MB. */
const bucketArtifacts = ['org.apache.hadoop:hadoop-aws:3.3.4', 'com.amazonaws:aws-java-sdk-bundle:1.12.262']

export const hasJava = ['java', 'mvn'].every(program => spawnSync(program, ['-version']).status === 0)
if (!hasJava) console.log('Spark is left out: java or mvn is not on this machine')

const minuteMs = 60_000

/** Their paths, with commas between. */
function jarsOf(wanted: readonly string[]): string {
  mkdirSync(cache, { recursive: true })
  return wanted
    .map(artifact => {
      const [, name, version] = artifact.split(':')
      const jar = join(cache, `${name}-${version}.jar`)
      if (existsSync(jar)) return jar
      const copy = ['-B', '-q', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${cache}`]
      const { status } = spawnSync('mvn', copy, { timeout: 5 * minuteMs })
      if (status !== 0) throw new NoEnvironment(`mvn ended with ${status}: it found no ${artifact}`)
      return jar
    })
    .join()
}

export interface SparkPlace {
  /** The folder of the Python environment. */
  readonly environment: string
  readonly jars: string
}

/** Throws NoEnvironment with one line, as where PyPI or Maven Central does not answer. */
export function sparkPlace(): SparkPlace {
  if (!hasJava) throw new NoEnvironment('java or mvn is not on this machine')
  const wanted = ['pyspark==3.5.6', 'setuptools']
  return {
    environment: pythonEnvironment({ name: 'lake-spark', wanted, program: 'python' }),
    jars: jarsOf(artifacts),
  }
}

/** The jars with which Spark reads `s3a://`. Throws NoEnvironment with one line. */
export const bucketJars = (): string => jarsOf(bucketArtifacts)
