/** Vitest's global setup: one PostgreSQL for each project of a run, or the one that MUSTER_TEST_POSTGRES names. */
import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of a server on which databases may be created; no database in it. */
    postgres: string
  }
}

/** Nothing of a test has to survive a crash of the machine. */
export const careless = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=200']

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env.MUSTER_TEST_POSTGRES
  if (given) {
    project.provide('postgres', given)
    return undefined
  }
  const server = await startPostgres(careless)
  project.provide('postgres', server.url)
  return () => server.stop()
}
