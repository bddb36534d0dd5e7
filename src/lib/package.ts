/** Finds this package's version and the files shipped beside its code, such as `sql/` and `dags/`. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Finds the nearest parent with a `package.json`: code runs from `src` or from a bundle at another depth. */
function packageFolder(from: string): string {
  if (existsSync(join(from, 'package.json'))) return from
  const above = dirname(from)
  if (above === from) throw new Error('no package.json in any parent folder')
  return packageFolder(above)
}

const here = dirname(fileURLToPath(import.meta.url))
const folder = packageFolder(here)

/** `path` as in the repository, such as `sql/marts`. */
export const packageFile = (path: string): string => join(folder, path)

/** A file that the build made beside the bundle; undefined when running from sources, which may have changed since. */
export function builtFile(name: string): string | undefined {
  const file = packageFile(`dist/${name}`)
  return relative(folder, here).startsWith('dist') && existsSync(file) ? file : undefined
}

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
