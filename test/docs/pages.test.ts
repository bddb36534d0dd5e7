/** README, docs and the other pages name only pages, headings and decisions that exist; decisions are few and short. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

function filesBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => ending.test(name))
    .map(name => join(root, folder, name))
}

const pages = [
  ...readdirSync(root)
    .filter(name => name.endsWith('.md'))
    .map(name => join(root, name)),
  ...filesBelow('docs', /\.md$/),
]
const decisions = filesBelow('docs/decisions', /\.md$/).sort()

/** The anchor that hosts of Markdown give a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')

function anchorsIn(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading ?? ''))
}

function brokenLinks(file: string): string[] {
  const targets = [...readFileSync(file, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)].map(
    ([, target]) => target ?? '',
  )
  return targets
    .filter(target => !/^https?:/.test(target))
    .filter(target => {
      const [path, anchor] = target.split('#')
      const other = path ? join(dirname(file), path) : file
      return !existsSync(other) || (anchor !== undefined && !anchorsIn(other).includes(anchor))
    })
}

describe('links of', () => {
  test.each(pages.map(page => relative(root, page)))('%s', page => {
    expect(brokenLinks(join(root, page))).toEqual([])
  })
})

/** Files and folders of the repository that a page names between backticks; `NAME` and the like stand for any. */
function missingPaths(file: string): string[] {
  const named = [...readFileSync(file, 'utf8').matchAll(/`((?:src|test|sql|docs|dags)\/[\w./-]*\w\/?)`/g)]
  return named
    .map(([, path]) => path ?? '')
    .filter(path => !/[A-Z]{3}/.test(path) && !existsSync(join(root, path)))
}

describe('paths in', () => {
  test.each(pages.map(page => relative(root, page)))('%s', page => {
    expect(missingPaths(join(root, page))).toEqual([])
  })
})

test('pages that code names exist', () => {
  const named = ['src', 'sql', 'config'].flatMap(folder =>
    filesBelow(folder, /\.\w+$/).flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/\bdocs\/[\w/-]+\.md/g)].map(([page]) => page),
    ),
  )
  // An example of a command writes it.
  expect(named.filter(page => page !== 'docs/dictionary.md' && !existsSync(join(root, page)))).toEqual([])
})

describe('decisions', () => {
  test('are at most 30, numbered from 001', () => {
    const numbers = decisions.map(file => relative(join(root, 'docs/decisions'), file).slice(0, 3))
    expect(numbers).toEqual(numbers.map((_, index) => String(index + 1).padStart(3, '0')))
    expect(numbers.length).toBeLessThanOrEqual(30)
  })

  test.each(decisions.map(file => relative(root, file)))('%s has ten lines at most under its title', file => {
    const lines = readFileSync(join(root, file), 'utf8').trimEnd().split('\n')
    expect(lines[0]).toMatch(new RegExp(`^# ${file.slice('docs/decisions/'.length).slice(0, 3)}: \\S`))
    expect(lines.length).toBeLessThanOrEqual(10)
  })

  test('that code and docs name exist', () => {
    const files = [
      ...pages,
      ...['src', 'test', 'sql', 'dags', 'config'].flatMap(folder => filesBelow(folder, /\.\w+$/)),
    ]
    const named = files.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/\bdecisions? (\d{3})\b/g)].map(([, number]) => Number(number)),
    )
    expect(named.filter(number => number < 1 || number > decisions.length)).toEqual([])
  })
})
