/** The files of other schedulers: each is judged by that scheduler's own rules. */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Cron } from 'croner'
import { CronJob } from 'kubernetes-models/batch/v1/CronJob'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { calendarsOf, longestSeconds } from '../../src/app/dag/export/schedule.ts'
import { muster, temporaryFolder } from '../support/captured-world.ts'

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

/** A program that only notes how it was called, in a folder with a space and a percent sign. */
function place() {
  const cwd = join(temporaryFolder(), 'nights of 100% & more')
  mkdirSync(join(cwd, 'dags'), { recursive: true })
  const program = join(cwd, 'muster')
  writeFileSync(program, '#!/bin/sh\necho "$PWD $SECRET $@" > called\nexit $CODE\n')
  chmodSync(program, 0o755)
  return { cwd, startedAs: [program] }
}

describe('systemd', () => {
  test.runIf(hasSystemd)('takes the service and the timer as they are', async () => {
    const at = place()
    const { code } = await muster('dag export systemd nightly --output units', at)
    expect(code).toBe(0)
    const files = ['muster-nightly.service', 'muster-nightly.timer'].map(name => join(at.cwd, 'units', name))
    const judged = spawnSync('systemd-analyze', ['verify', ...files], { encoding: 'utf8' })
    // Of other units on the machine it complains as well.
    const own = judged.stderr.split('\n').filter(line => line.includes('muster-nightly'))
    expect(own).toEqual([])
    const unit = readFileSync(files[0] ?? '', 'utf8')
    expect(unit).toMatch(/^SuccessExitStatus=75$/m)
    const seconds = Number(/^TimeoutStartSec=(\d+)$/m.exec(unit)?.[1])
    expect(seconds).toBeGreaterThan(20 * 3600)
    expect(seconds).toBeLessThan(24 * 3600)
  })

  test('a description of several lines stays a comment, and one field of a unit', async () => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'dags'))
    const described = 'Loads.\\nExecStartPre=/bin/evil\\r\\n* * * * * evil\\\\'
    writeFileSync(
      join(cwd, 'dags/odd.yaml'),
      `name: odd\ndescription: "${described}"\nschedule: 30 2 * * *\ntasks: { a: { run: sync } }\n`,
    )
    for (const scheduler of ['systemd', 'cron', 'kubernetes']) {
      const { code, out } = await muster(`dag export ${scheduler} odd`, { cwd })
      const lines = out.split('\n').filter(line => line.includes('evil'))
      expect([code, lines.length > 0]).toEqual([0, true])
      for (const line of lines) {
        expect(line).toMatch(/^(#|Description=)/)
        expect(line).not.toMatch(/\\$/)
      }
    }
  })

  const schedules = [
    '30 2 * * *',
    '30 5 * * 0',
    '*/20 1-3 * * mon-fri',
    '5 4 1,15 jan-jun/2 *',
    '0 0 13 * 5',
    '59 23 * * 7',
  ]
  test.runIf(hasSystemd).each(schedules)('and cron mean the same times by %s', schedule => {
    const from = new Date('2026-02-27T12:34:56Z')
    const expected = new Cron(schedule, { mode: '5-part', utcOffset: 0 }).nextRuns(6, from)
    const told = calendarsOf(schedule).flatMap(calendar => {
      const out = execFileSync(
        'systemd-analyze',
        [
          'calendar',
          '--iterations=6',
          `--base-time=${from.toISOString().slice(0, 19).replace('T', ' ')} UTC`,
          calendar,
        ],
        { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } },
      )
      return [...out.matchAll(/(?:Next elapse|Iter\S* ?#\d+): \w+ ([\d-]+) ([\d:]+) UTC/g)].map(
        ([, day, time]) => `${day}T${time}.000Z`,
      )
    })
    const soonest = [...new Set(told)].sort().slice(0, 6)
    expect(soonest).toEqual(expected.map(date => date.toISOString()))
  })
})

describe('cron', () => {
  test.each([
    ['0', '', 'done'],
    ['75', '', 'goes on at the next run'],
    ['3', 'muster dag run nightly failed: see', 'is told'],
  ])('runs a line that ends with %s', async (code, said) => {
    const at = place()
    const { out } = await muster('dag export cron nightly --connection acme', at)
    const line = out.split('\n').find(one => one.startsWith('30 2 * * *')) ?? ''
    writeFileSync(join(at.cwd, 'muster.env'), "SECRET='a b'\n")
    // As cron reads it: a percent sign with a backslash is a plain one.
    const command = line.replace('30 2 * * * ', '').replaceAll('\\%', '%')
    const ran = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8', cwd: '/', env: { CODE: code } })
    expect([ran.stderr, ran.stdout.slice(0, said.length || 99)]).toEqual(['', said])
    expect(readFileSync(join(at.cwd, 'called'), 'utf8')).toBe(
      `${at.cwd} a b dag run nightly --quiet --connection acme\n`,
    )
    expect(out.split('\n').filter(one => one !== '' && !/^(#|CRON_TZ=UTC|30 2 \* \* \* )/.test(one))).toEqual(
      [],
    )
  })
})

test('kubernetes takes the CronJob, by the schema of its API', async () => {
  const { out } = await muster(
    'dag export kubernetes nightly --connection big_co --image r.example.com/muster:1',
    place(),
  )
  const job = parse(out)
  expect(() => new CronJob(job).validate()).not.toThrow()
  expect(() => new CronJob({ ...job, spec: { ...job.spec, schedule: 5 } }).validate()).toThrow(/schedule/)
  const { containers } = job.spec.jobTemplate.spec.template.spec
  expect(job.metadata.name).toBe('muster-big-co-nightly')
  expect(containers[0].args).toEqual([
    'dag',
    'run',
    'nightly',
    '--quiet',
    '--config',
    '/etc/muster/muster.yaml',
    '--connection',
    'big_co',
  ])
  const [, flag, script] = containers[0].command
  for (const [given, expected] of [
    [0, 0],
    [75, 0],
    [3, 3],
    [78, 78],
  ] as const) {
    const ran = spawnSync('/bin/sh', [
      flag === '-c' ? '-c' : '',
      script.replace('muster "$@"', `(exit ${given})`),
      'muster',
    ])
    expect(ran.status).toBe(expected)
  }
})

/** A folder with settings in two files that name keys in every way, a DAG of its own, and a proxy. */
function placeWithKeys() {
  const cwd = temporaryFolder()
  const write = (name: string, text: string, mode = 0o600): void => {
    mkdirSync(join(cwd, name, '..'), { recursive: true })
    writeFileSync(join(cwd, name), text, { mode })
  }
  write('secrets/acme key', 'key-of-acme-1234\n')
  write('secrets/hook', 'secret-of-hook-1234567890\n')
  write('other/acme key', 'key-of-beta-1234\n')
  write('ca.pem', 'pem')
  write(
    'config/muster.yaml',
    `connections:
  acme:
    baseUrl: https://a.example.com
    apiKey: "file:secrets/acme key"
    webhook: { secretFile: secrets/hook }
    warehouse: postgres://loader:\${PGPASS_ACME}@db.example.com/w?sslmode=verify-full&sslrootcert=/etc/muster/ca.pem
`,
  )
  write(
    'config/muster.d/beta.yaml',
    `connections:
  beta: { baseUrl: https://b.example.com, apiKeyFile: other/acme key, warehouse: "duckdb:beta.duckdb" }
`,
  )
  write('dags/mine.yaml', 'name: mine\ndescription: d\nschedule: 30 2 * * *\ntasks: { a: { run: sync } }\n')
  const env = {
    PGPASS_ACME: 'x',
    HTTPS_PROXY: 'http://user:planted@proxy:3128',
    NODE_EXTRA_CA_CERTS: join(cwd, 'ca.pem'),
  }
  return { cwd, env }
}

/** What the commands in the head of the manifest would put into the cluster, by kind and name: key -> path of the file. */
const created = (text: string): Map<string, Map<string, string>> =>
  new Map(
    [...text.matchAll(/^# {3}kubectl create (configmap|secret generic) (\S+) (.*)$/gm)].map(
      ([, , name = '', words = '']) => [
        name,
        new Map(
          [...words.matchAll(/'--from-file=([^=]+)=([^']+)'|--from-file=([^= ]+)=(\S+)/g)].map(
            ([, quotedKey, quotedPath, key, path]) => [quotedKey ?? key ?? '', quotedPath ?? path ?? ''],
          ),
        ),
      ],
    ),
  )

test('kubernetes mounts every file that the settings name where a run looks for it, and a run reads them', async () => {
  const at = placeWithKeys()
  const { code, out } = await muster('dag export kubernetes mine', at)
  expect(code).toBe(0)
  const job = parse(out)
  expect(() => new CronJob(job).validate()).not.toThrow()
  const pod = job.spec.jobTemplate.spec.template.spec
  const [container] = pod.containers
  const made = created(out)
  const root = temporaryFolder()
  for (const { name, mountPath, subPath } of container.volumeMounts) {
    const volume = pod.volumes.find((one: { name: string }) => one.name === name)
    const source = volume.configMap?.name ?? volume.secret?.secretName
    if (source === undefined) continue
    const files = made.get(source) ?? expect.unreachable(`nothing makes ${source}`)
    for (const [key, path] of files) {
      if (subPath !== undefined && subPath !== key) continue
      const target = join(root, mountPath, ...(subPath === undefined ? [key] : []))
      mkdirSync(join(target, '..'), { recursive: true })
      writeFileSync(target, path.startsWith(at.cwd) ? readFileSync(path) : 'pem', { mode: 0o600 })
    }
  }
  const targets = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)
  expect(targets).toEqual([
    '/data',
    '/etc/muster-settings',
    '/data/secrets/acme key',
    '/data/secrets/hook',
    '/etc/muster/ca.pem',
    '/data/other/acme key',
    join(at.cwd, 'ca.pem'),
    '/data/dags/mine.yaml',
  ])
  expect(container.args).toEqual(['dag', 'run', 'mine', '--quiet', '--config', '/etc/muster-settings'])
  expect(pod.volumes.find((one: { name: string }) => one.name === 'files').secret.defaultMode).toBe(0o440)
  // The same files below another root: settings, keys and DAG are found from the working folder of the pod.
  const inside = { cwd: join(root, 'data'), env: { PGPASS_ACME: 'x' } }
  const read = await muster(`config --config ${join(root, 'etc/muster-settings')}`, inside)
  expect([read.code, read.err]).toEqual([0, ''])
  expect((await muster('dag list', inside)).out).toContain('mine')
})

test('of one connection kubernetes gets the files and variables that it uses', async () => {
  const { out } = await muster('dag export kubernetes mine --connection beta', placeWithKeys())
  expect([...(created(out).get('muster-beta-mine-files') ?? [])].map(([key]) => key)).toEqual([
    'acme_key',
    'ca.pem',
  ])
  expect(out).not.toContain('PGPASS_ACME')
})

test('a settings file elsewhere is mounted too, and its path on this machine is in no command', async () => {
  const at = placeWithKeys()
  const { out } = await muster('dag export kubernetes mine --config config/muster.d/beta.yaml', at)
  const job = parse(out)
  expect(job.spec.jobTemplate.spec.template.spec.containers[0].args.slice(4)).toEqual([
    '--config',
    '/etc/muster/muster.yaml',
  ])
  expect(created(out).get('muster-settings')).toEqual(
    new Map([['muster.yaml', join(at.cwd, 'config/muster.d/beta.yaml')]]),
  )
})

test('settings in variables alone need no file in the cluster', async () => {
  const env = { MUSTER_BASE_URL: 'https://a.example.com', MUSTER_API_KEY: 'planted-1234' }
  const { out } = await muster('dag export kubernetes nightly', { cwd: temporaryFolder(), env })
  const { containers, volumes } = parse(out).spec.jobTemplate.spec.template.spec
  expect([containers[0].args, volumes]).toEqual([['dag', 'run', 'nightly', '--quiet'], [expect.anything()]])
  expect(out).toContain('use MUSTER_API_KEY, MUSTER_BASE_URL: write one line for each')
})

test.each(['cron', 'systemd', 'kubernetes'])(
  '%s names the variables that a run needs, and no value',
  async scheduler => {
    const { out } = await muster(`dag export ${scheduler} mine`, placeWithKeys())
    expect(out).toContain('use HTTPS_PROXY, NODE_EXTRA_CA_CERTS, PGPASS_ACME: write one line for each.')
    expect(out).toContain('lines NAME=value of ')
    expect(out).not.toContain('planted')
  },
)

test('a run is ended before the next one begins', () => {
  const now = Date.parse('2026-11-01T00:00:00Z')
  expect(longestSeconds('30 2 * * *', now)).toBe(23.5 * 3600)
  expect(longestSeconds('30 5 * * 0', now)).toBe(23.5 * 3600)
  expect(longestSeconds('*/10 * * * *', now)).toBe(540)
})

test.each([
  ['dag export nomad nightly', 2, /there is no scheduler nomad.*cron/],
  ['dag export cron nigthly', 2, /no DAG named nigthly.*nightly/],
  ['dag export cron nightly --connection acne', 2, /no connection is named acne.*acme/],
])('one line for %s', async (line, code, words) => {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'config'))
  const env = { KEY: 'a1b2c3d4e5' }
  writeFileSync(
    join(cwd, 'config/muster.yaml'),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: settings name variables so
    'connections: { acme: { baseUrl: https://a.example.com, apiKey: ${KEY}, warehouse: "duckdb:a.duckdb" } }\n',
  )
  const result = await muster(line, { cwd, env })
  expect([result.code, result.err]).toEqual([code, expect.stringMatching(words)])
  expect(
    result.err
      .trimEnd()
      .split('\n')
      .filter(text => text.startsWith('muster:')),
  ).toHaveLength(1)
})

test.each(['99 * * * *', '0 0 31 2 *', '* * * *', 'tomorrow', '0 25 * * *'])(
  'the schedule %s is refused before anything runs',
  async schedule => {
    const cwd = temporaryFolder()
    mkdirSync(join(cwd, 'dags'))
    writeFileSync(
      join(cwd, 'dags/odd.yaml'),
      `name: odd\ndescription: d\nschedule: '${schedule}'\ntasks: { a: { run: sync } }\n`,
    )
    expect(await muster('dag run odd', { cwd })).toMatchObject({
      code: 78,
      err: expect.stringMatching(/^muster: dags\/odd.yaml: schedule: must be five cron fields[^\n]*\n$/),
    })
  },
)
