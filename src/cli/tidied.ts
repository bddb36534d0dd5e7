/** What a command does first: it removes temporary files of processes that were killed. */
import { dirname } from 'node:path'
import type { StoredConnection } from '../config/connection.ts'
import { usualTemporaryHours } from '../config/shape.ts'
import { removeLeftovers } from '../temporary/leftovers.ts'
import { keepRegistryIn } from '../temporary/places.ts'

/** The connection; its temporary files, wherever they are, are registered beside its landed pages. */
export function tidied<One extends StoredConnection>(connection: One): One {
  const { landing, warehouse, temporaryHours } = connection
  const home = dirname(landing)
  keepRegistryIn(home)
  removeLeftovers([home, ...(warehouse.kind === 'file' ? [dirname(warehouse.file)] : [])], temporaryHours)
  return connection
}

/** For a command without a connection, such as copy. */
export function tidyFolder(folder: string): void {
  keepRegistryIn(folder)
  removeLeftovers([folder], usualTemporaryHours)
}
