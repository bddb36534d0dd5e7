/** The version of this program, and which of two is the later. */
import { readFileSync } from 'node:fs'

/** Of the package this file belongs to; the same depth below it in `src` and in `dist`. */
export const programVersion: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version

/** Whether `one` comes after `other`: number by number, whatever follows a `-` aside. */
export function isLaterVersion(one: string, other: string): boolean {
  const numbers = (version: string): number[] => (version.split('-')[0] ?? '').split('.').map(Number)
  const [left, right] = [numbers(one), numbers(other)]
  const at = left.findIndex((number, index) => number !== (right[index] ?? 0))
  return at >= 0 && (left[at] ?? 0) > (right[at] ?? 0)
}
