/**
 * Runs mutants for Stryker. Stryker's own runner for Vitest imports the tests of a folder again for each mutant, half a second
 * each; this one keeps a thread in which they stand imported. A test that kills a mutant is run again without it: where it still
 * fails, the thread is replaced, and the mutant is judged by a new one.
 */
import { resolve } from 'node:path'
import type { BroadcastChannel } from 'node:worker_threads'
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin'
import {
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestResult,
  type TestRunner,
  TestStatus,
} from '@stryker-mutator/api/test-runner'
import { createVitest, type Vitest } from 'vitest/node'
import { rulesFolder } from '../folders.ts'
import {
  type DryRunAnswer,
  type MutantAnswer,
  type MutantQuestion,
  openChannel,
  type Question,
  type RunTest,
  receive,
} from './channel.ts'

export class RulesTestRunner implements TestRunner {
  private vitest: Vitest | undefined
  private channel: BroadcastChannel | undefined
  private ended: Promise<unknown> | undefined
  private isMutantImported = false

  capabilities(): { reloadEnvironment: boolean } {
    return { reloadEnvironment: true }
  }

  /** With a mutant, it is on while the tests are imported: what a module computes then is altered. */
  async init(mutant = ''): Promise<void> {
    process.env.MUSTER_MUTANT = mutant
    this.isMutantImported = mutant !== ''
    this.channel = openChannel()
    this.vitest = await createVitest('test', {
      config: 'test/mutation/runner/vitest.config.ts',
      watch: false,
      reporters: [{}],
    })
    const ready = receive<{ failure?: string }>(this.channel)
    this.ended = this.vitest.start()
    const { failure } = await ready
    if (failure !== undefined) throw new Error(failure)
  }

  async dryRun(): Promise<DryRunResult> {
    const { tests, coverage } = await this.reached()
    await this.requireRepeatable()
    return { status: DryRunStatus.Complete, tests: tests.map(toResult), mutantCoverage: coverage }
  }

  async mutantRun({
    activeMutant: { id, fileName },
    testFilter,
    hitLimit,
    reloadEnvironment,
  }: MutantRunOptions): Promise<MutantRunResult> {
    const question = { mutant: id, source: fileName, tests: testFilter, hitLimit }
    const answer = reloadEnvironment ? await this.judgeImported(question) : await this.judge(question)
    return toMutantResult(answer, hitLimit)
  }

  /** Runs all tests, and notes what each reaches. */
  reached(): Promise<DryRunAnswer> {
    return this.ask<DryRunAnswer>({ ask: 'dry-run' })
  }

  /** A test that fails when it runs again would spoil the thread for every mutant: each would take seconds. */
  private async requireRepeatable(): Promise<void> {
    const { killer } = await this.ask<MutantAnswer>({
      ...{ ask: 'mutant', mutant: 'none', tests: undefined, hitLimit: undefined },
    })
    if (killer) throw new Error(`${killer.name} passes once only: ${killer.failure}`)
  }

  async judge(question: MutantQuestion): Promise<MutantAnswer> {
    if (this.isMutantImported) await this.restart()
    const first = await this.ask<MutantAnswer>({ ask: 'mutant', ...question })
    if (first.isClean) return first
    await this.restart()
    return this.ask<MutantAnswer>({ ask: 'mutant', ...question })
  }

  /** Tests that cannot be imported notice the mutant. */
  async judgeImported(question: MutantQuestion): Promise<MutantAnswer> {
    try {
      await this.restart(question.mutant)
    } catch (error) {
      return { ran: 0, killer: unimported(String(error)), hits: 0, isClean: false }
    }
    return this.ask<MutantAnswer>({ ask: 'mutant', ...question })
  }

  private async restart(mutant?: string): Promise<void> {
    await this.dispose()
    await this.init(mutant)
  }

  async dispose(): Promise<void> {
    this.send({ ask: 'end' })
    await this.ended
    await this.vitest?.close()
    this.channel?.close()
  }

  private send(question: Question): void {
    this.channel?.postMessage(question)
  }

  private ask<Answer>(question: Question): Promise<Answer> {
    const answer = receive<Answer>(this.channel as BroadcastChannel)
    this.send(question)
    return answer
  }
}

const unimported = (failure: string): RunTest => ({
  ...{ id: 'import', file: '', name: 'the import of the tests', durationMs: 0, failure },
})

/** With its file, by which Stryker knows in the next run which tests have changed. */
function toResult({ id, file, name, durationMs, failure }: RunTest): TestResult {
  const test = { id, name, fileName: resolve(rulesFolder, file), timeSpentMs: durationMs }
  return failure === undefined
    ? { ...test, status: TestStatus.Success }
    : { ...test, status: TestStatus.Failed, failureMessage: failure }
}

function toMutantResult({ ran, killer, hits }: MutantAnswer, hitLimit: number | undefined): MutantRunResult {
  const endless = determineHitLimitReached(hits, hitLimit)
  if (endless) return { status: MutantRunStatus.Timeout, reason: endless.reason ?? 'endless' }
  if (killer === undefined) return { status: MutantRunStatus.Survived, nrOfTests: ran }
  return {
    status: MutantRunStatus.Killed,
    killedBy: [killer.id],
    failureMessage: killer.failure ?? '',
    nrOfTests: ran,
  }
}

const createRunner = Object.assign(() => new RulesTestRunner(), { inject: [] as const })

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'rules', createRunner)]
