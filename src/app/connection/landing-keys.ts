/** The landed pages of a connection, and their keys, where the settings have some. */
import type { StoredConnection } from '../../config/connection.ts'
import { LandingKeys, notedKey } from '../../landing/encryption.ts'
import { type Landing, openLanding } from '../../landing/folder.ts'
import { FolderStore } from '../../landing/folder-store.ts'

export const landingKeys = ({ landingKey }: Pick<StoredConnection, 'landingKey'>): LandingKeys | undefined =>
  landingKey && new LandingKeys(landingKey.reveal())

/** Throws ConfigError where pages are encrypted with another key. */
export const landingOf = (connection: StoredConnection): Promise<Landing> =>
  openLanding(connection.landing, { keys: landingKeys(connection) })

/** The id of the key of its pages; undefined where none are encrypted. */
export const landingKeyId = ({ landing }: StoredConnection): Promise<string | undefined> =>
  notedKey(new FolderStore(landing))
