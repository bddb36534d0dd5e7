/** Command lines in README and docs: each names a command that exists, with options that it has. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { globalOptions, unaliased } from '../../src/cli/shell/global-options.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = ['README.md', ...readdirSync(join(root, 'docs')).filter(name => name.endsWith('.md'))]
const everywhere = ['--help', ...globalOptions().map(({ long }) => long)]

/** What follows `muster` in blocks of code and between backticks, up to another program. */
function commandLines(page: string): string[] {
  const text = readFileSync(join(root, page === 'README.md' ? page : `docs/${page}`), 'utf8')
  const lines = text.matchAll(/(?:^ *|`|-s )muster (?:-- )?([a-z][^`\n#]*)/gm)
  return [...lines].map(([, line = '']) => line.split(/ [|&]/)[0]?.trim() ?? '')
}

/** Undefined for prose such as `muster` alone. */
function nameOf(line: string): string | undefined {
  const [first = '', second = ''] = line.split(/\s+/)
  const names = Object.keys(commandSet.commands)
  return [`${first} ${second}`, first].find(name => names.includes(name))
}

async function unknownOptions(written: string): Promise<string[]> {
  const line = unaliased(written.split(/\s+/), commandSet).join(' ')
  const name = nameOf(line)
  const declared = name === undefined ? undefined : commandSet.commands[name]
  if (!declared)
    return Object.keys(commandSet.groups).includes(line.split(' ')[0] ?? '') ? [] : [`no command: ${line}`]
  const { command } = await declared.load()
  const known = [
    ...everywhere,
    ...(command.takesAll ? ['--all'] : []),
    ...(command.options ?? []).flatMap(({ flags }) => flags.match(/--[\w-]+/g) ?? []),
  ]
  const used = line.match(/(?<=\s)--[a-z][\w-]*/g) ?? []
  return used.filter(option => !known.includes(option)).map(option => `${option} in: ${line}`)
}

describe('command lines of', () => {
  test.each(pages)('%s', async page => {
    const found = await Promise.all(commandLines(page).map(unknownOptions))
    expect(found.flat()).toEqual([])
  })

  test('a page are found', () => {
    expect(commandLines('README.md').length).toBeGreaterThan(12)
    expect(commandLines('records.md')).toContain(
      'serve --port 8080 --path /hooks/f3a9c1 --allow-host hooks.example.com',
    )
  })

  test('a page are refused with another command or option', async () => {
    expect(await unknownOptions('synchronise')).toHaveLength(1)
    expect(await unknownOptions('sync --fast --deadline 2h')).toEqual([
      '--fast in: sync --fast --deadline 2h',
    ])
    expect(await unknownOptions('dag list --json')).toEqual([])
  })
})
