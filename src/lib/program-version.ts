/** The version of this program, and a comparison of versions. */
import { readFileSync } from 'node:fs'
import { packageFile } from './package-file.ts'

export const programVersion: string = (
  JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }
).version

/** Whether `one` is later than `other`, compared number by number; a suffix after `-` is ignored. */
export function isLaterVersion(one: string, other: string): boolean {
  const numbers = (version: string): number[] => (version.split('-')[0] ?? '').split('.').map(Number)
  const [left, right] = [numbers(one), numbers(other)]
  const at = left.findIndex((number, index) => number !== (right[index] ?? 0))
  return at >= 0 && (left[at] ?? 0) > (right[at] ?? 0)
}
