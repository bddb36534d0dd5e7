/** Names of the files of an archive. */
import { encryptedEnd } from '../lib/encryption/stored-page.ts'

/** Written when the archive is complete. */
export const manifestName = 'manifest.json'

export const packedEnd = `.pages${encryptedEnd}`

/** Whether a file of an archive has pages. */
export const isPacked = (name: string): boolean => name.endsWith('.parquet') || name.endsWith(packedEnd)
