/** Runs the other commands on some days: build, check, publish and crosscheck, each as a command line. */
import type { Rng } from '../../src/lib/rng.ts'
import { readMarts } from '../../src/marts/mart.ts'
import { runCommand } from './dag-run.ts'
import { lawCounters, lawOfRequests } from './laws.ts'
import { lawOfPublished, type TableRows } from './published.ts'
import { assertLawful, logResult, mayMissRequests, type Setting } from './setting.ts'

/** Builds two marts only: all of them take ten times as long as a sync of two lists. */
function otherCommands(rng: Rng): string[] {
  const names = readMarts().map(({ name }) => name)
  const drawn = [names[Math.floor(rng() * names.length)], names[Math.floor(rng() * names.length)]]
  const all = [`build ${drawn.join(' ')}`, 'check', 'publish', 'crosscheck']
  return all.filter(() => rng() < 0.5).map(line => `${line} --json`)
}

export async function runOtherCommands(setting: Setting, rng: Rng): Promise<void> {
  const { machine, environment, service, scenario, counts } = setting
  for (const line of otherCommands(rng)) {
    await machine.stop()
    const kill = rng() < scenario.kills / 2 ? machine.drawKill(2) : undefined
    const since = setting.clock.now()
    counts.add(`command ${line.split(' ')[0]}`)
    const done = await machine.runAlone(() => runCommand(environment, line), kill)
    if (!done) {
      setting.killedAt = setting.clock.now()
      setting.log('  killed')
      continue
    }
    logResult(setting, done.result)
    assertLawful(setting, lawOfRequests(service, mayMissRequests(setting, since)))
    const { code, message, printed = '' } = done.result
    if (message.includes('unexpected')) assertLawful(setting, [`${line} ended with ${code}: ${message}`])
    if (!line.startsWith('publish') || code !== 0 || scenario.engine !== 'duckdb') continue
    const { file, tables } = JSON.parse(printed) as { file: string; tables: TableRows[] }
    counts.add(lawCounters.published, tables.length)
    assertLawful(setting, await lawOfPublished(file, service, tables))
  }
}
