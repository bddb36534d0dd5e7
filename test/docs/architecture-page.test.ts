/** docs/architecture.md shows the folders that there are, and files that follow each other. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { journeys, type Step } from './journeys.ts'

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

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, target = '']) =>
    posix.join(dirname(file), target),
  )
}

const areNeighbours = (one: string, other: string): boolean =>
  importsOf(one).includes(other) || importsOf(other).includes(one)

/** A step follows an earlier one, an indented step the one that it is indented under. */
function strangers(steps: readonly Step[]): string[] {
  return steps.flatMap(({ depth, file }, index) => {
    const earlier = steps.slice(0, index)
    const under = earlier.findLast(step => step.depth < depth)
    const before = under ? [under] : earlier
    if (before.length === 0 || before.some(step => areNeighbours(step.file, file))) return []
    return [under ? `${under.file} and ${file}` : `${file} and those before it`]
  })
}

describe('journeys', () => {
  test('are five', () => {
    expect(journeys.map(({ title }) => title)).toEqual([
      'A page of timesheets',
      'A record by id',
      'A webhook',
      'A mart',
      'A command',
    ])
  })

  test.each(journeys)('$title passes through files that exist', ({ steps }) => {
    expect(steps.length).toBeGreaterThan(3)
    expect(steps.map(({ file }) => file).filter(file => !existsSync(join(root, file)))).toEqual([])
  })

  test.each(journeys)('$title: each file imports, or is imported by, one that it follows', ({ steps }) => {
    expect(strangers(steps)).toEqual([])
  })

  test('with a file too few are found out', () => {
    const file = (name: string, depth = 0): Step => ({ depth, file: `src/cli/${name}` })
    const [sync, progress] = [file('commands/sync.ts'), file('terminal/progress.ts')]
    expect(strangers([file('commands.ts'), sync])).toEqual([])
    expect(strangers([file('commands.ts'), progress])).toHaveLength(1)
    expect(strangers([sync, file('commands/build.ts'), file('commands.ts')])).toHaveLength(1)
    expect(strangers([file('commands.ts'), sync, file('commands/build.ts', 1)])).toHaveLength(1)
    expect(
      strangers([file('commands.ts'), file('commands/sync.ts', 1), file('commands/build.ts', 1)]),
    ).toEqual([])
  })
})
