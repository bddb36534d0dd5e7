/** What `dist` was built from, so that a build of the same is skipped: every command of npm builds first. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** All of this folder that a build may read. Of the packages it reads some files, which their record names. */
const sources = [
  'src',
  'assets',
  'sql',
  'dags',
  'config/muster.example.yaml',
  'bundle.ts',
  'built-from.ts',
  'notices.ts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  // What is installed, which decides where a name of a package leads.
  'node_modules/.package-lock.json',
]

const record = 'dist/.built-from.json'
const outputs = ['dist', 'man']

interface Build {
  readonly from: string
  /** Files of packages that are in the bundle. */
  readonly reads: readonly string[]
  readonly read: string
  readonly made: string
}

function filesIn(root: string, path: string): string[] {
  const folder = join(root, path)
  if (!existsSync(folder)) return []
  try {
    return readdirSync(folder)
      .sort()
      .flatMap(name => filesIn(root, `${path}/${name}`))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error
    return [path]
  }
}

/** Of names and contents: a file that is added, missing, renamed or empty makes another digest. */
function digestOf(root: string, paths: readonly string[]): string {
  const digest = createHash('sha256')
  for (const path of paths) {
    const content = readFileSync(join(root, path))
    digest.update(`${path}\0${content.length}\0`).update(content)
  }
  return digest.digest('hex')
}

const digestUnder = (root: string, paths: readonly string[]): string =>
  digestOf(
    root,
    paths.flatMap(path => filesIn(root, path)).filter(path => path !== record),
  )

/** Taken before a build: what is edited while it runs is built by the next. Another Node may print another manual page. */
export const sourcesNow = (root: string): string => `${process.version} ${digestUnder(root, sources)}`

function lastBuild(root: string): Build | undefined {
  try {
    const build = JSON.parse(readFileSync(join(root, record), 'utf8'))
    return Array.isArray(build.reads) ? build : undefined
  } catch {
    // Absent, or cut off as the machine stopped: a build makes it anew.
    return undefined
  }
}

/** Whether a build would make what is there already, byte for byte. */
export function isBuilt(root: string): boolean {
  const last = lastBuild(root)
  return (
    last !== undefined &&
    last.from === sourcesNow(root) &&
    last.read === digestUnder(root, last.reads) &&
    last.made === digestUnder(root, outputs)
  )
}

/** Last of all, by a build that ended well; `from` is what `sourcesNow` said before it. */
export function recordBuild(root: string, { reads, from }: Pick<Build, 'reads' | 'from'>): void {
  const build: Build = { from, reads, read: digestUnder(root, reads), made: digestUnder(root, outputs) }
  writeFileSync(join(root, record), JSON.stringify(build))
}
