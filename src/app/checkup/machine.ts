/** Checks of this machine: Node, the landing folder, and free disk space. */
import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { freeBytes, inMegabytes, nearestFolder } from '../../temporary/free-space.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const leastNode = [20, 19] as const

export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const [leastMajor, leastMinor] = leastNode
  const enough = major > leastMajor || (major === leastMajor && minor >= leastMinor)
  if (enough) return ok('node', version)
  return fail('node', `${version} is too old`, `install Node ${leastNode.join('.')} or later`)
}

export function landingFolder(folder: string): Finding {
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

const leastBytes = 1_000_000_000

export function diskSpace(file: string, reserve: number): Finding {
  const free = freeBytes(dirname(file))
  if (free < reserve)
    return fail(
      'disk',
      `${inMegabytes(free)} free, less than reserveMegabytes keeps`,
      'free some space: nothing is synced until then',
    )
  const found = `${(free / 1e9).toFixed(1)} GB free`
  return free >= leastBytes ? ok('disk', found) : warn('disk', found, 'free some space before a first sync')
}
