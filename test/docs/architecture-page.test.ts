/** docs/architecture.md shows the folders that there are, and files that follow each other. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(join(root, 'docs/architecture.md'), 'utf8')

/** Folders of an indented listing, as paths. */
function foldersIn(listing: string): string[] {
  const open: string[] = []
  return [...listing.matchAll(/^( *)([\w-]+)\/ *(.*)$/gm)].map(([, indent = '', name = '']) => {
    open.splice(indent.length / 2, Infinity, name)
    return open.join('/')
  })
}

test('every folder of src has a line in the tree, in order', () => {
  const tree = /## The tree\n\n```\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
  const folders = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/'))
  expect(foldersIn(tree)).toEqual(['src', ...folders.sort()])
  const lines = tree.trimEnd().split('\n').slice(1)
  expect(lines.filter(line => !/^ *[\w-]+\/ +\S/.test(line))).toEqual([])
})

interface Step {
  readonly depth: number
  readonly file: string
}

/** Title of a journey -> its steps. */
function journeys(): [string, Step[]][] {
  const section = /## Five journeys\n([\s\S]*?)\n## /.exec(`${page}\n## `)?.[1] ?? ''
  return section
    .split(/^### /m)
    .slice(1)
    .map(text => [
      text.split('\n')[0] ?? '',
      [...text.matchAll(/^( *)- `(src\/[\w./-]+)`/gm)].map(([, indent = '', file = '']) => ({
        depth: indent.length / 2,
        file,
      })),
    ])
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, target = '']) =>
    posix.join(dirname(file), target),
  )
}

const areNeighbours = (one: string, other: string): boolean =>
  importsOf(one).includes(other) || importsOf(other).includes(one)

/** A step follows the one before it, an indented step the one that it is indented under. */
function strangers(steps: readonly Step[]): string[] {
  return steps.flatMap(({ depth, file }, index) => {
    const before = steps.slice(0, index).findLast(step => step.depth < depth || step.depth + depth === 0)
    return before && !areNeighbours(before.file, file) ? [`${before.file} and ${file}`] : []
  })
}

describe('journeys', () => {
  test('are five', () => {
    expect(journeys().map(([title]) => title)).toEqual([
      'A page of timesheets',
      'A record by id',
      'A webhook',
      'A mart',
      'A command',
    ])
  })

  test.each(journeys())('%s passes through files that exist', (_, steps) => {
    expect(steps.length).toBeGreaterThan(3)
    expect(steps.map(({ file }) => file).filter(file => !existsSync(join(root, file)))).toEqual([])
  })

  test.each(journeys())('%s: each file imports, or is imported by, the one that it follows', (_, steps) => {
    expect(strangers(steps)).toEqual([])
  })

  test('with a file too few are found out', () => {
    const file = (name: string, depth = 0): Step => ({ depth, file: `src/cli/${name}` })
    const [sync, progress] = [file('commands/sync.ts'), file('terminal/progress.ts')]
    expect(strangers([file('commands.ts'), sync])).toEqual([])
    expect(strangers([file('commands.ts'), progress])).toHaveLength(1)
    expect(strangers([file('commands.ts'), sync, file('commands/build.ts')])).toHaveLength(1)
    expect(
      strangers([file('commands.ts'), file('commands/sync.ts', 1), file('commands/build.ts', 1)]),
    ).toEqual([])
  })
})
