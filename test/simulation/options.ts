/** Parses the command line of `npm run simulate`. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { choiceOf } from '../../src/lib/text/nearest.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { shiftsOf, withJoinedShift } from '../support/clock-shift.ts'
import type { Kill } from './process.ts'
import { excludableNames } from './scenario.ts'

/** The only kill of a seed: before or after a step whose effect outlives the process. */
export interface OnlyKill {
  readonly day: number
  readonly kill?: Kill
}

export interface Options {
  /** All seeds; in a worker, its share of them. */
  readonly seeds: readonly number[]
  /** Each seed runs on each engine in turn. */
  readonly engines: readonly Engine['kind'][]
  /** Changes, faults, quirks and options to leave out. */
  readonly without: readonly string[]
  readonly plant: string | undefined
  readonly endsAtFirst: boolean
  readonly minutes: number
  readonly isSmall: boolean
  readonly isWide: boolean
  /** Milliseconds by which the machine's clock may be wrong; empty if it is right. */
  readonly clockShifts: readonly number[]
  readonly everyKill: boolean
  readonly kill: OnlyKill | undefined
  readonly mustHappen: boolean
  readonly isVerbose: boolean
  readonly workers: number
  readonly isWorker: boolean
}

/** Parses `day:step:before` or `day:step:after`. */
function parseKill(text: string): OnlyKill {
  const [day, step, phase] = text.split(':')
  const when = phase === 'after' ? 'after' : 'before'
  return { day: Number(day), kill: { kind: 'durable', step: Number(step), phase: when } }
}

function parseEngines(text: string): Engine['kind'][] {
  if (text === 'both') return ['duckdb', 'postgres']
  return [text === 'postgres' ? 'postgres' : 'duckdb']
}

/** Parses `1-100` or `2,13,40-50`. */
const parseSeeds = (text: string): number[] =>
  text.split(',').flatMap(range => {
    const [first = 1, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })

const splitWords = (text: string): string[] => text.split(',').filter(word => word !== '')

function parseValues(args: readonly string[]) {
  return parseArgs({
    args: withJoinedShift(args),
    options: {
      seeds: { type: 'string', default: '1-100' },
      engine: { type: 'string', default: 'duckdb' },
      without: { type: 'string', default: '' },
      'clock-shift': { type: 'string' },
      plant: { type: 'string' },
      first: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '1000000' },
      small: { type: 'boolean', default: false },
      wide: { type: 'boolean', default: false },
      'every-kill': { type: 'boolean', default: false },
      kill: { type: 'string' },
      sometimes: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      workers: { type: 'string', default: String(availableParallelism()) },
      part: { type: 'string' },
    },
  }).values
}

/** Exits if a name is unknown: otherwise it would be ignored without notice. */
function parseWithout(text: string): string[] {
  const names = [...new Set(excludableNames)].sort()
  const excluded = splitWords(text)
  const unknown = excluded.find(word => !names.includes(word))
  if (unknown === undefined) return excluded
  console.error(`simulate: unknown name ${unknown} in --without: ${choiceOf(unknown, names)}`)
  process.exit(2)
}

/** Reads the options; exits with a one-line error if they are invalid. */
function readValues(args: readonly string[]): ReturnType<typeof parseValues> {
  try {
    return parseValues(args)
  } catch (error) {
    const [what] = (error as Error).message.split('. ')
    console.error(`simulate: ${what}: CONTRIBUTING.md has the options`)
    process.exit(2)
  }
}

export function readOptions(args: readonly string[]): Options {
  const values = readValues(args)
  const [part, parts] = values.part?.split('/').map(Number) ?? [0, 1]
  return {
    seeds: parseSeeds(values.seeds).filter((_, index) => index % (parts ?? 1) === part),
    ...{ plant: values.plant, engines: parseEngines(values.engine) },
    ...{ without: parseWithout(values.without), minutes: Number(values.minutes) },
    ...{
      endsAtFirst: values.first,
      isSmall: values.small,
      isWide: values.wide,
      everyKill: values['every-kill'],
    },
    ...{ mustHappen: values.sometimes, isVerbose: values.verbose, workers: Number(values.workers) },
    clockShifts: values['clock-shift'] === undefined ? [] : shiftsOf(values['clock-shift']),
    kill: values.kill === undefined ? undefined : parseKill(values.kill),
    isWorker: values.part !== undefined,
  }
}
