/** Completion as shells ask for it, and the scripts in the shells that this machine has. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { commandSet } from '../../src/cli/commands.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

function project(): string {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'config'))
  mkdirSync(join(cwd, 'dags'))
  const lines = ['north', 'south'].flatMap(name => [
    `  ${name}:`,
    '    baseUrl: https://api.example.com/v1',
    '    apiKey: file:key',
    `    warehouse: duckdb:${name}.duckdb`,
  ])
  writeFileSync(join(cwd, 'key'), 'key-0123456789', { mode: 0o600 })
  writeFileSync(join(cwd, 'config/muster.yaml'), ['connections:', ...lines, ''].join('\n'))
  writeFileSync(
    join(cwd, 'dags/monthly.yaml'),
    'name: monthly\ndescription: x\ntasks: { a: { run: status } }\n',
  )
  return cwd
}

const cwd = project()

/** The words after `muster`; a trailing space asks for a new word. */
async function offered(line: string, where = cwd): Promise<string[]> {
  const { code, out, err } = await muster(`completion words -- ${line.trimEnd()}`, { cwd: where })
  const spaced = line.endsWith(' ') || line === ''
  const result = spaced ? await withEmpty(line, where) : { code, out, err }
  expect([result.code, result.err]).toEqual([0, ''])
  return result.out
    .split('\n')
    .filter(Boolean)
    .map(one => one.split('\t')[0] ?? '')
}

async function withEmpty(line: string, where: string) {
  const { run } = await import('../../src/cli/program.ts')
  const { captured } = await import('../support/captured-world.ts')
  const { world, out, err } = captured({ cwd: where })
  const words = line.trim().split(' ').filter(Boolean)
  const code = await run(['completion', 'words', '--', ...words, ''], world, commandSet)
  return { code, out: out(), err: err() }
}

describe('offers', () => {
  test('every command and group, and those that begin so', async () => {
    const all = await offered('')
    for (const name of Object.keys(commandSet.commands)) expect(all).toContain(name.split(' ')[0])
    expect(await offered('st')).toEqual(['status'])
    expect(await offered('dag ')).toEqual(['list', 'run', 'record', 'export'])
    expect(await offered('help wor')).toEqual(['workers'])
  })

  test.each([
    ['sync time', ['timesheets']],
    ['sync timesheets time', []],
    ['sync timesheets --deadline 2h invo', ['invoices']],
    ['build worker_w', ['worker_week']],
    ['check keys_', ['keys_unique']],
    ['check --except keys_', ['keys_unique']],
    ['dag run m', ['monthly']],
    ['dag export ', ['cron', 'systemd', 'kubernetes']],
    ['--connection ', ['north', 'south']],
    ['status --connection s', ['south']],
    ['--connection south stat', ['status']],
    ['sync --acc', ['--accept-refused']],
    ['--color ', ['auto', 'always', 'never']],
    ['publish --require ', ['complete']],
    ['metric timeT', ['timeToFill']],
    ['--config ', [':files']],
    ['workers create ', [':files']],
    ['sql ', []],
    ['nonsense ', []],
  ])('for %j: %j', async (line, words) => expect(await offered(line)).toEqual(words))

  test('nothing, and no error, where settings are wrong or absent', async () => {
    const broken = temporaryFolder()
    mkdirSync(join(broken, 'config'))
    writeFileSync(join(broken, 'config/muster.yaml'), 'connections: [')
    expect(await offered('--connection ', broken)).toEqual([])
    expect(await offered('--connection ', temporaryFolder())).toEqual([])
  })

  test('another shell is refused with the ones that there are', async () => {
    expect(await muster('completion fsh')).toMatchObject({
      code: 2,
      err: 'muster: there is no completion for fsh: did you mean zsh? The others are bash, fish\n',
    })
  })
})

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** A `muster` of the built program in the way of commands. */
function inShell(shell: string, args: readonly string[]) {
  const bin = temporaryFolder()
  writeFileSync(join(bin, 'muster'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`)
  chmodSync(join(bin, 'muster'), 0o755)
  const { stdout, stderr, error } = spawnSync(shell, args, {
    cwd,
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: temporaryFolder() },
  })
  if (error) throw error
  return { stdout, stderr }
}

const hasShell = (name: string): boolean => !spawnSync(name, ['--version']).error

test('in bash', () => {
  const script = `
    eval "$(muster completion bash)"
    try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _muster; echo "\${COMPREPLY[*]}"; }
    try muster sync time
    try muster dag run m
    try muster --connection s`
  expect(inShell('bash', ['-c', script])).toEqual({ stdout: 'timesheets\nmonthly\nsouth\n', stderr: '' })
})

test.skipIf(!hasShell('fish'))('in fish', () => {
  const script = `
    muster completion fish | source
    complete --do-complete 'muster sync time'
    complete --do-complete 'muster dag run m'
    complete --do-complete 'muster st'`
  const { stdout } = inShell('fish', ['-c', script])
  expect(stdout.split('\n').map(line => line.split('\t')[0])).toEqual(['timesheets', 'monthly', 'status', ''])
})

test.skipIf(!hasShell('zsh'))('in zsh', () => {
  const script = `
    autoload -Uz compinit && compinit -u -D
    eval "$(muster completion zsh)"
    _describe() { print -l -- "\${(@P)2}" }
    words=(muster sync time) CURRENT=3 && _muster
    words=(muster st) CURRENT=2 && _muster`
  const { stdout } = inShell('zsh', ['-f', '-c', script])
  expect(stdout.split('\n').map(line => line.split(':')[0])).toEqual(['timesheets', 'status', ''])
})
