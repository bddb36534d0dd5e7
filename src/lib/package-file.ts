/** Files that the package ships beside its code, such as `sql/` and `dags/`. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The nearest folder above with a `package.json`: code runs from `src`, or from a bundle at another depth. */
function packageFolder(from: string): string {
  if (existsSync(join(from, 'package.json'))) return from
  const above = dirname(from)
  if (above === from) throw new Error('the program is not in a package')
  return packageFolder(above)
}

const folder = packageFolder(dirname(fileURLToPath(import.meta.url)))

/** `path` as in the repository: `sql/marts`. */
export const packageFile = (path: string): string => join(folder, path)
