/** The Dockerfile and the workflows, as far as they can be tried without running them: rules, and names that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { validateWorkflow } from '@action-validator/core'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { muster } from '../support/captured-world.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const manifest = JSON.parse(read('package.json'))

/** Instructions with their lines joined, comments left out. */
const instructions = read('Dockerfile')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter(line => line !== '' && !line.startsWith('#'))
  .map(line => /^([A-Z]+) (.*)$/.exec(line)?.slice(1) ?? [])

const of = (name: string): string[] =>
  instructions.flatMap(([one, text = '']) => (one === name ? [text] : []))

/** By tag alone, another image could be what was meant tomorrow. */
const digest = '@sha256:[0-9a-f]{64}'

test('both stages have one Node that the package supports, by its digest', () => {
  const images = of('FROM').map(text => text.split(' ')[0] ?? '')
  expect(images.length).toBe(2)
  expect(new Set(images).size).toBe(1)
  for (const image of images) {
    const [, version] = new RegExp(`^node:(\\d+)-slim${digest}$`).exec(image) ?? []
    expect(Number(version)).toBeGreaterThanOrEqual(Number(/\d+/.exec(manifest.engines.node)?.[0]))
  }
})

test('it runs as a user who owns what it writes, stops on TERM, and reports its health', () => {
  const order = instructions.map(([name]) => name)
  expect(order.lastIndexOf('USER')).toBeGreaterThan(order.lastIndexOf('RUN'))
  expect(of('USER')).toEqual(['node'])
  expect(of('STOPSIGNAL')).toEqual(['SIGTERM'])
  expect(of('VOLUME')).toEqual(of('WORKDIR').slice(-1))
  expect(of('RUN').join()).toContain('--owner=node --mode=700 /data')
  // As lists: through a shell, the signal would not reach the program.
  for (const name of ['ENTRYPOINT', 'CMD']) expect(JSON.parse(of(name).at(-1) ?? '')).toBeInstanceOf(Array)
  expect(JSON.parse(of('ENTRYPOINT')[0] ?? '')).toEqual(Object.keys(manifest.bin))
})

test('the first stage gets all that the package is made of, and no settings of its builder', () => {
  const [first, ...allowed] = read('.dockerignore').trim().split('\n')
  expect(first).toBe('*')
  const given = allowed.map(line => line.replace(/^!/, ''))
  const made = ['dist', 'man']
  const buildFiles = ['bundle.ts', 'build.ts', 'built-from.ts', 'notices.ts']
  const packed = (manifest.files as string[]).filter(path => !path.startsWith('!') && !made.includes(path))
  expect(given).toEqual(expect.arrayContaining([...packed, ...buildFiles, 'src', 'package-lock.json']))
  expect(given.filter(path => !existsSync(join(root, path)))).toEqual([])
  for (const own of ['node_modules', 'data', 'config', 'config/muster.yaml', 'secrets', '.git'])
    expect(given).not.toContain(own)
})

test('its command is one of the program, and its health check reads the port that it opens', async () => {
  const [command = '', ...options] = JSON.parse(of('CMD').at(-1) ?? '') as string[]
  const { out } = await muster(`${command} --help`)
  for (const option of options.filter(word => word.startsWith('--'))) expect(out).toContain(option)
  const port = of('EXPOSE')[0]
  expect(of('HEALTHCHECK')[0]).toContain(`http://127.0.0.1:${port}/health`)
  expect(out).toMatch(new RegExp(`--port <number>.*default: ${port}`, 's'))
})

const workflows = readdirSync(join(root, '.github/workflows')).map(
  name => [name, parse(read(`.github/workflows/${name}`))] as const,
)

interface Step {
  readonly run?: string
  readonly uses?: string
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>
  readonly 'runs-on': string
  readonly 'timeout-minutes': number
  readonly steps: readonly Step[]
}

test.each(workflows)('%s may only read unless it says why, and no job runs for ever', (_, workflow) => {
  expect(workflow.permissions).toEqual({ contents: 'read' })
  for (const job of Object.values<Job>(workflow.jobs)) {
    expect(job['timeout-minutes']).toBeLessThanOrEqual(60)
    expect(job['runs-on']).toBe('ubuntu-latest')
    for (const { uses, run } of job.steps) {
      expect([uses, run].filter(Boolean)).toHaveLength(1)
      if (uses) expect(uses).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
    }
  }
})

test.each(workflows)('%s names the version beside each commit, one commit a version', name => {
  const lines = read(`.github/workflows/${name}`)
    .split('\n')
    .filter(line => line.includes('uses:'))
  for (const line of lines) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  const actions = new Set(lines.map(line => line.replace(/.*uses: /, '')))
  expect(new Set([...actions].map(one => one.split('@')[0])).size).toBe(actions.size)
})

test('only jobs that run no code of this repository or of a package may publish', () => {
  const jobs = workflows.flatMap(([, { jobs }]) => Object.entries<Job>(jobs))
  const mayWrite = jobs.filter(([, { permissions }]) => permissions !== undefined)
  expect(mayWrite.map(([name, { permissions }]) => [name, permissions])).toEqual([
    ['publish', { 'id-token': 'write' }],
    ['attach', { contents: 'write' }],
  ])
  for (const [, { steps }] of mayWrite) {
    expect(steps.flatMap(({ uses = '' }) => /^actions\/checkout/.exec(uses) ?? [])).toEqual([])
    const runs = steps.flatMap(({ run = [] }) => run)
    expect(runs).toEqual([
      expect.stringMatching(/^(npm publish \.\/release\/\*\.tgz --ignore-scripts|gh release create) /),
    ])
  }
})

test.each(workflows.map(([name]) => name))('%s is valid for those who run it', name => {
  expect(validateWorkflow(read(`.github/workflows/${name}`)).errors).toEqual([])
  expect(validateWorkflow('name: x').errors).not.toEqual([])
})

test.each(workflows)('each npm script of %s exists', (_, workflow) => {
  const steps = Object.values<Job>(workflow.jobs).flatMap(job => job.steps)
  const named = steps.flatMap(({ run = '' }) => [...run.matchAll(/npm (?:run )?(test(?::\w+)?|check)\b/g)])
  expect(named.length).toBeGreaterThan(0)
  for (const [, script = ''] of named) expect(Object.keys(manifest.scripts)).toContain(script)
})

test('tests run on every Node and PostgreSQL that is supported', () => {
  const { jobs } = Object.fromEntries(workflows)['check.yml']
  expect(jobs.node.strategy.matrix.node).toEqual([20, 22, 24])
  const images: readonly string[] = jobs.postgres.strategy.matrix.postgres
  expect(images.map(image => new RegExp(`^postgres:(\\d+)${digest}$`).exec(image)?.[1])).toEqual([
    '14',
    '15',
    '16',
    '17',
    '18',
  ])
  expect(new Set(images.map(image => image.split('@')[1])).size).toBe(images.length)
  expect(existsSync(join(root, 'LICENSE'))).toBe(true)
})
