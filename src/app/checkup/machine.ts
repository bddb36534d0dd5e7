/** Checks of this machine: Node, and free disk space. */
import { dirname } from 'node:path'
import { freeBytes, inMegabytes } from '../../temporary/free-space.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const leastNode = [20, 19] as const

export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const [leastMajor, leastMinor] = leastNode
  const enough = major > leastMajor || (major === leastMajor && minor >= leastMinor)
  if (enough) return ok('node', version)
  return fail('node', `${version} is too old`, `install Node ${leastNode.join('.')} or later`)
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
