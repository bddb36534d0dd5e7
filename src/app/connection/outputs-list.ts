/** The place of a connection beside which there is the list of what was written from its warehouse. */
import type { StoredConnection } from '../../config/connection.ts'
import { duckdbFile } from './warehouse.ts'

export const stemOf = (connection: StoredConnection): string => duckdbFile(connection) ?? connection.landing
