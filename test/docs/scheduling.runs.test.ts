/** The commands of docs/run.md, as written: what they install is run, or judged by the scheduler's own rules. */
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CronJob } from 'kubernetes-models/batch/v1/CronJob'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { sandboxKeys } from '../../src/sandbox/keys/default-keys.ts'
import { keptSandbox } from '../sandbox/open-sandbox.ts'
import { temporaryFolder } from '../support/captured-world.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(join(root, 'docs/run.md'), 'utf8')

/** The commands below a heading of the page. */
function commandsOf(heading: string): string {
  const [, text = ''] = page.split(`\n### ${heading}\n`)
  const [, commands] = /```sh\n(.*?)```/s.exec(text.split(/\n##+ /)[0] ?? '') ?? []
  if (commands === undefined) throw new Error(`docs/run.md has no commands for ${heading}`)
  return commands
}

/** Programs that would change the machine only note what they are given, in files of the folder. */
const standIns = {
  crontab: `
    case "$1" in
      -l) cat "$AT/crontab.txt" ;;
      -) cat > "$AT/new.txt" && mv "$AT/new.txt" "$AT/crontab.txt" ;;
    esac`,
  sudo: `
    if [ "$1" != cp ]; then exec "$@"; fi
    shift
    mkdir -p "$AT/etc"
    for last; do :; done
    [ "$last" = /etc/systemd/system/ ] || exit 9
    for file; do [ "$file" = "$last" ] || cp "$file" "$AT/etc/" || exit 1; done`,
  systemctl: 'echo "$@" >> "$AT/systemctl.txt"',
  kubectl: `
    echo "$@" >> "$AT/kubectl.txt"
    for word; do
      case "$word" in *.yaml|--from-*) cat "$(echo "$word" | sed 's/.*=//')" || exit 1 ;; esac
    done > "$AT/applied.txt"`,
  muster: `exec ${process.execPath} ${join(root, 'dist/main.js')} "$@"`,
}

async function place() {
  const { url } = await keptSandbox({ scale: 0.02, rateLimitPerMinute: 100_000 })
  const at = temporaryFolder()
  for (const folder of ['bin', 'config']) mkdirSync(join(at, folder))
  for (const [name, script] of Object.entries(standIns)) {
    writeFileSync(join(at, 'bin', name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(at, 'bin', name), 0o755)
  }
  writeFileSync(join(at, 'muster.env'), `KEY=${sandboxKeys.company}\n`)
  writeFileSync(
    join(at, 'config/muster.yaml'),
    `connections: { acme: { baseUrl: "${url}", apiKey: "\${KEY}", warehouse: "duckdb:w.duckdb" } }\n`,
  )
  const env = { PATH: `${join(at, 'bin')}:${process.env.PATH}`, AT: at, HOME: at }
  const shell = (script: string, more: object = {}, cwd = at): Promise<{ code: number; text: string }> =>
    new Promise(resolve => {
      execFile('/bin/sh', ['-c', script], { cwd, env: { ...env, ...more } }, (error, out, err) =>
        resolve({ code: error ? Number(error.code ?? 1) : 0, text: `${out}${err}` }),
      )
    })
  return { at, shell, read: (name: string) => readFileSync(join(at, name), 'utf8') }
}

test('cron: the installed line runs a successful DAG run', async () => {
  const { at, shell, read } = await place()
  // The export checks settings, which need the key.
  expect(await shell(commandsOf('cron'), { KEY: sandboxKeys.company })).toMatchObject({ code: 0 })
  const line =
    read('crontab.txt')
      .split('\n')
      .find(one => /^\d/.test(one)) ?? ''
  const command = line.split(' ').slice(5).join(' ').replaceAll('\\%', '%')
  expect(await shell(command, {}, '/')).toEqual({ code: 0, text: '' })
  expect(existsSync(join(at, 'muster-nightly.log'))).toBe(true)
  const status = await shell('set -a; . ./muster.env; muster status --all')
  expect(status).toEqual({ code: 0, text: expect.stringMatching(/^1 connection: 1 well$/m) })
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

test('systemd: the units that they install are taken', async () => {
  const { at, shell, read } = await place()
  expect(await shell(commandsOf('systemd'))).toMatchObject({ code: 0 })
  expect(read('systemctl.txt')).toBe('daemon-reload\nenable --now muster-nightly.timer\n')
  const units = ['service', 'timer'].map(kind => join(at, 'etc', `muster-nightly.${kind}`))
  for (const unit of units) expect(readFileSync(unit, 'utf8')).toContain('[Unit]')
  if (!hasSystemd) return
  const judged = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' })
  expect(judged.stderr.split('\n').filter(line => line.includes('muster-nightly'))).toEqual([])
})

test('Kubernetes: what they apply is a CronJob, and names what they create', async () => {
  const { shell, read } = await place()
  expect(await shell(commandsOf('Kubernetes'))).toMatchObject({ code: 0 })
  const job = parse(read('applied.txt'))
  expect(() => new CronJob(job).validate()).not.toThrow()
  const text = JSON.stringify(job)
  const created = [...read('kubectl.txt').matchAll(/^create (?:secret generic|configmap) (\S+)/gm)].map(
    ([, name]) => name,
  )
  expect(created).toEqual(['muster-env', 'muster-settings'])
  for (const name of created) expect(text).toContain(`"${name}"`)
})

test('our own runner: one task, and a task with those that wait for it', async () => {
  const { shell } = await place()
  const said = [...page.matchAll(/`(?:muster )?(dag run nightly [^`]*|--from build)`/g)].map(
    ([, line]) => line,
  )
  expect(said).toEqual(['dag run nightly --task build', '--from build'])
  const run = (line: string) => shell(`set -a; . ./muster.env; muster ${line} --quiet`)
  expect(await run('sync')).toMatchObject({ code: 0 })
  const [task = '', from = ''] = said
  expect(await run(task)).toMatchObject({ code: 0 })
  expect(await run(`dag run nightly ${from}`)).toMatchObject({ code: 0 })
})
