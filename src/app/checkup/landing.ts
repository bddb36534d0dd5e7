/** Whether pages can be landed: in a folder of this machine, or in a bucket. */
import { accessSync, constants } from 'node:fs'
import type { Connection } from '../../config/connection.ts'
import { nearestFolder } from '../../temporary/free-space.ts'
import { requireBucket, shownLanding } from '../connection/landing.ts'
import { type Finding, fail, failed, ok } from './finding.ts'

function landingFolder(folder: string): Finding {
  const nearest = nearestFolder(folder)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
  } catch {
    // EACCES or EROFS: the folder is not for this user to write.
    return fail(
      'landing',
      `${nearest} cannot be written`,
      'check its owner and permissions, or set landing to another folder',
    )
  }
  return ok('landing', nearest === folder ? folder : `${folder} will be created`)
}

/** Puts an object into a bucket, reads it, lists it, and removes it. */
export async function landing(
  connection: Pick<Connection, 'landing' | 'bucket'>,
  signal: AbortSignal,
): Promise<Finding> {
  if (!connection.bucket) return landingFolder(connection.landing)
  try {
    await requireBucket(connection, signal)
    return ok('landing', `${shownLanding(connection)} can be written, read and listed`)
  } catch (error) {
    return failed('landing', error)
  }
}
