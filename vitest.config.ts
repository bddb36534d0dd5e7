import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

type Project = NonNullable<TestProjectInlineConfiguration['test']>

/** Test files whose names end in one of these words, as in `sweep.runs.test.ts`. */
const files = (...words: readonly string[]): string[] => words.map(word => `test/**/*.${word}.test.ts`)

/** They need what neither Node nor an npm package brings. */
const onRequest = ['airflow', 'browser', 'celery', 'lake', 's3', 'spark']

const setupFiles = ['test/support/every-file.ts']
const minute = 60_000

/** A process of its own for each file, without the state that other files leave behind. */
const isolated = {
  setupFiles,
  globalSetup: ['test/support/scratch-folder.ts', 'test/support/shared-postgres.ts'],
  pool: 'forks',
} satisfies Project

/** Two processes that keep what they have imported: importing it again for each file takes 72 s of a run instead of 20. */
const shared = {
  ...isolated,
  isolate: false,
  // Tests wait for sockets and servers as much as they compute: two at once take 60 s where one takes 82.
  maxWorkers: 2,
  testTimeout: 2 * minute,
  hookTimeout: 2 * minute,
} satisfies Project

const projects: Readonly<Record<string, Project>> = {
  quick: {
    ...shared,
    include: ['test/**/*.test.ts'],
    exclude: files('runs', 'long', ...onRequest),
  },
  /** Complete runs, many of them stopped, killed or refused. */
  runs: { ...shared, include: files('runs') },
  /** Quick tests and complete runs against the server that MUSTER_TEST_POSTGRES names. */
  versions: {
    ...shared,
    include: ['test/**/*.test.ts'],
    exclude: files('long', ...onRequest),
    testTimeout: 10 * minute,
    hookTimeout: 10 * minute,
  },
  /** Rules in memory: no server, no child process, each file under two seconds. */
  rules: {
    include: files('rules'),
    setupFiles,
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    hookTimeout: minute,
  },
  /** Proofs that take minutes, and every case on every engine where the quick suite takes some of them. */
  long: {
    ...isolated,
    include: ['test/**/*.test.ts'],
    exclude: files(...onRequest),
    env: { MUSTER_TEST_EVERYWHERE: '1' },
    fileParallelism: false,
    testTimeout: 60 * minute,
  },
  browser: {
    ...isolated,
    include: files('browser'),
    fileParallelism: false,
    testTimeout: 2 * minute,
    hookTimeout: 4 * minute,
  },
  airflow: {
    ...isolated,
    include: files('airflow'),
    fileParallelism: false,
    // A scheduler, its server and a DAG run share two cores: what times out once passes then.
    retry: 1,
    testTimeout: 40 * minute,
    hookTimeout: 40 * minute,
  },
  celery: {
    ...isolated,
    include: files('celery'),
    testTimeout: 60 * minute,
    hookTimeout: 15 * minute,
  },
  /** Lakes as deltalake, polars and Spark read them. */
  lake: {
    ...isolated,
    include: files('lake'),
    testTimeout: 10 * minute,
    hookTimeout: 10 * minute,
  },
  /** The marts that Spark computes from a lake. */
  spark: {
    ...isolated,
    include: files('spark'),
    testTimeout: 60 * minute,
    hookTimeout: 20 * minute,
  },
  /** Landed pages and lakes in a bucket, on moto's S3 server. */
  s3: {
    ...isolated,
    include: files('s3'),
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    maxWorkers: 2,
    testTimeout: 5 * minute,
    hookTimeout: 5 * minute,
  },
}

/** What runs without --project. Vitest reads it from the command line and from here; its types know the former only. */
const unlessChosen = { project: ['quick', 'runs'] }

export default defineConfig({
  test: {
    ...unlessChosen,
    projects: Object.entries(projects).map(([name, test], groupOrder) => ({
      // Projects whose numbers of workers differ run one after the other.
      test: { name, sequence: { groupOrder }, ...test },
    })),
    sequence: { sequencer: LongestFirst },
    // When all is stopped and removed, and the process still does not end by itself.
    teardownTimeout: 3_000,
  },
})
