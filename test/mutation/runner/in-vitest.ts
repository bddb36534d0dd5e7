/**
 * Runs in Vitest's thread. Instead of running the rules tests once, it keeps them and runs those that it is asked for, once for
 * each mutant: nothing is imported again.
 */
import { setMaxListeners } from 'node:events'
import { basename, dirname, join } from 'node:path'
import type { BroadcastChannel } from 'node:worker_threads'
import { type File, type Suite, startTests, type Task, type Test } from '@vitest/runner'
import { TestRunner } from 'vitest'
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

type Hits = Record<string, number>

/** What Stryker's instrumented code reads and writes. */
interface Instruments {
  activeMutant?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  currentTestId?: string | undefined
  mutantCoverage?: { static: Hits; perTest: Record<string, Hits> }
}

const globals: typeof globalThis & { __stryker__?: Instruments } = globalThis
globals.__stryker__ ??= {}
const instruments = globals.__stryker__
if (process.env.MUSTER_MUTANT) instruments.activeMutant = process.env.MUSTER_MUTANT

/** A test that takes longer, what its suite prepares included, waits for the others. */
const quickMs = 20

export default class RulesRunner extends TestRunner {
  private killers: readonly string[] = []
  /** Of each test, with what its suites prepare. */
  private readonly durations = new Map<string, number>()

  async onCollected(files: File[]): Promise<void> {
    const file = files[0] as File
    const channel = openChannel()
    if (file.result?.errors) channel.postMessage({ failure: file.result.errors[0]?.stack })
    else await this.answerQuestions(file, channel)
    channel.close()
    // Vitest itself has nothing left to run.
    file.mode = 'skip'
    file.tasks = []
  }

  private async answerQuestions(file: File, channel: BroadcastChannel): Promise<void> {
    channel.postMessage({ ready: true })
    for (;;) {
      const question = await receive<Question>(channel)
      if (question.ask === 'end') return
      channel.postMessage(
        question.ask === 'mutant' ? await this.runMutant(file, question) : await this.runAll(file),
      )
    }
  }

  private async runAll(file: File): Promise<DryRunAnswer> {
    const tests = await this.run(file, undefined, true)
    const coverage = instruments.mutantCoverage ?? { static: {}, perTest: {} }
    delete coverage.perTest[file.id]
    for (const suite of file.tasks) spreadHookCoverage(suite, [], coverage.perTest)
    instruments.currentTestId = undefined
    return { tests, coverage }
  }

  /**
   * First the tests that killed the last mutants, then the quick ones, then those that killed any, then those of the altered
   * file's folder, then the others.
   */
  private async runMutant(file: File, asked: MutantQuestion): Promise<MutantAnswer> {
    const { mutant, source, tests, hitLimit } = asked
    const chosen = tests ?? idsIn(file)
    Object.assign(instruments, { activeMutant: mutant, hitCount: 0, hitLimit })
    const ran: RunTest[] = []
    for (const wave of this.wavesOf(chosen, ownIn(file, source))) {
      ran.push(...(await this.run(file, wave)))
      if (ran.some(({ failure }) => failure !== undefined)) break
    }
    const hits = instruments.hitCount ?? 0
    Object.assign(instruments, { activeMutant: undefined, hitCount: undefined, hitLimit: undefined })
    const killer = ran.find(({ failure }) => failure !== undefined)
    if (killer) this.killers = [killer.id, ...this.killers.filter(id => id !== killer.id)]
    const again = killer === undefined ? [] : await this.run(file, new Set([killer.id]))
    return { ran: ran.length, killer, hits, isClean: again.every(({ failure }) => failure === undefined) }
  }

  private wavesOf(chosen: readonly string[], own: ReadonlySet<string>): readonly ReadonlySet<string>[] {
    const last = new Set(this.killers.slice(0, 5))
    const ever = new Set(this.killers)
    const isQuick = (id: string): boolean => (this.durations.get(id) ?? 0) < quickMs
    const waveOf = (id: string): number =>
      [last.has(id), isQuick(id), ever.has(id), own.has(id), true].indexOf(true)
    return [0, 1, 2, 3, 4]
      .map(wave => new Set(chosen.filter(id => waveOf(id) === wave)))
      .filter(({ size }) => size > 0)
  }

  /** Runs the chosen tests until one fails; all of them, while coverage is counted. */
  private async run(
    file: File,
    chosen?: ReadonlySet<string>,
    isCounted = false,
  ): Promise<readonly RunTest[]> {
    let hasFailed = false
    prepare(file, chosen)
    const count = (id: string): void => {
      if (isCounted) instruments.currentTestId = id
    }
    const runner = Object.assign(Object.create(this), {
      importFile: () => undefined,
      getImportDurations: undefined,
      onTaskUpdate: undefined,
      onCollected: (files: File[]) => void files.splice(0, 1, file),
      onBeforeRunSuite: (suite: Suite) => {
        if (hasFailed && !isCounted) suite.mode = 'skip'
        count(suite.id)
        return super.onBeforeRunSuite(suite)
      },
      onBeforeRunTask: (test: Test) => {
        if (hasFailed && !isCounted) test.mode = 'skip'
        count(test.id)
        return super.onBeforeRunTask(test)
      },
      onAfterRunTask: (test: Test) => {
        hasFailed ||= test.result?.state === 'fail'
        count((test.suite ?? test.file).id)
        super.onAfterRunTask(test)
      },
      onAfterRunFiles: () => undefined,
    })
    await startTests([file.filepath], runner)
    for (const task of file.tasks) noteDurations(task, 0, this.durations)
    return file.tasks.flatMap(task => testsIn(task, undefined))
  }
}

/** The tests that ran, and those that a failed `beforeAll` above them kept from it. */
function testsIn(task: Task, above: string | undefined): readonly RunTest[] {
  const failure = task.result?.errors?.[0]?.message ?? above
  if (task.type === 'suite') return task.tasks.flatMap(child => testsIn(child, failure))
  if (task.mode !== 'run' && failure === undefined) return []
  return [
    { id: task.id, file: fileOf(task), name: nameOf(task), durationMs: task.result?.duration ?? 0, failure },
  ]
}

const fileOf = (task: Task): string => (task.suite === undefined ? task.name : fileOf(task.suite))

const nameOf = (task: Task): string =>
  task.suite === undefined ? task.name : `${nameOf(task.suite)} > ${task.name}`

/** Makes the chosen tests and the suites that hold them ready to run; says whether there is one. */
function prepare(task: Task, chosen: ReadonlySet<string> | undefined): boolean {
  delete task.result
  // Each run adds a listener.
  if (task.type === 'test') setMaxListeners(0, task.context.signal)
  const isChosen =
    task.type === 'suite'
      ? task.tasks.map(child => prepare(child, chosen)).some(Boolean)
      : (chosen?.has(task.id) ?? true)
  task.mode = isChosen ? 'run' : 'skip'
  return isChosen
}

/** What a suite's `beforeAll` reaches, each of its tests reaches. */
function spreadHookCoverage(task: Task, above: readonly Hits[], perTest: Record<string, Hits>): void {
  const own = perTest[task.id]
  if (task.type === 'suite') {
    delete perTest[task.id]
    for (const child of task.tasks) spreadHookCoverage(child, own ? [...above, own] : above, perTest)
  } else if (above.length > 0) {
    perTest[task.id] = Object.assign({}, ...above, own)
  }
}

const idsIn = (task: Task): readonly string[] =>
  task.type === 'test' ? [task.id] : task.tasks.flatMap(idsIn)

/** Tests of the folder that mirrors that of this file, and those of a file whose name begins with its name. */
function ownIn(file: File, source: string | undefined): ReadonlySet<string> {
  if (source === undefined) return new Set()
  const name = basename(source, '.ts')
  const folder = dirname(source).split('/src/').at(-1) ?? ''
  const isOwn = (path: string): boolean =>
    basename(path).startsWith(name) || `/${join(rulesFolder, dirname(path))}`.endsWith(`/${folder}`)
  return new Set(file.tasks.filter(task => isOwn(task.name)).flatMap(idsIn))
}

/** Of what ran. A suite takes longer than its tests where it prepares something. */
function noteDurations(task: Task, preparedMs: number, durations: Map<string, number>): void {
  if (task.mode !== 'run') return
  const taken = task.result?.duration ?? 0
  if (task.type === 'test') {
    durations.set(task.id, preparedMs + taken)
    return
  }
  const ofTasks = task.tasks.reduce((sum, child) => sum + (child.result?.duration ?? 0), 0)
  for (const child of task.tasks) noteDurations(child, preparedMs + taken - ofTasks, durations)
}
