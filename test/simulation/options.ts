/** What `npm run simulate` is told on its command line. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { choiceOf } from '../../src/lib/text/nearest.ts'
import type { Engine } from '../../src/warehouse/engine.ts'
import { shiftsOf, withJoinedShift } from '../support/clock-shift.ts'
import { leavable } from './climate.ts'
import type { Kill } from './process.ts'

/** The only kill of a seed: before or after a step of a night that leaves something behind. */
export interface OnlyKill {
  readonly night: number
  readonly kill?: Kill
}

export interface Options {
  /** All of them, or of a worker its own. */
  readonly seeds: readonly number[]
  /** A seed runs on each in turn. */
  readonly engines: readonly Engine['kind'][]
  /** Changes, faults, quirks and options that no seed has. */
  readonly without: readonly string[]
  readonly plant: string | undefined
  readonly endsAtFirst: boolean
  readonly minutes: number
  readonly isSmall: boolean
  readonly isWide: boolean
  /** Milliseconds by which the clock of the machine may be wrong; empty where it is right. */
  readonly clockShifts: readonly number[]
  readonly everyKill: boolean
  readonly kill: OnlyKill | undefined
  readonly mustHappen: boolean
  readonly isVerbose: boolean
  readonly workers: number
  readonly isWorker: boolean
}

/** Of `night:step:before` or `night:step:after`. */
function killOf(text: string): OnlyKill {
  const [night, step, phase] = text.split(':')
  const when = phase === 'after' ? 'after' : 'before'
  return { night: Number(night), kill: { kind: 'lasting', step: Number(step), phase: when } }
}

function enginesOf(text: string): Engine['kind'][] {
  if (text === 'both') return ['duckdb', 'postgres']
  return [text === 'postgres' ? 'postgres' : 'duckdb']
}

/** Of `1-100` or `2,13,40-50`. */
const seedsOf = (text: string): number[] =>
  text.split(',').flatMap(range => {
    const [first = 1, last = first] = range.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })

const words = (text: string): string[] => text.split(',').filter(word => word !== '')

function parsed(args: readonly string[]) {
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

/** Ends the program for a word that no climate knows: nothing would be left out, and nobody would see it. */
function leftOut(text: string): string[] {
  const names = [...new Set(leavable)].sort()
  const left = words(text)
  const unknown = left.find(word => !names.includes(word))
  if (unknown === undefined) return left
  console.error(`simulate: --without ${unknown} leaves out nothing: ${choiceOf(unknown, names)}`)
  process.exit(2)
}

/** What was given, or one line and the end of the program. */
function valuesOf(args: readonly string[]): ReturnType<typeof parsed> {
  try {
    return parsed(args)
  } catch (error) {
    const [what] = (error as Error).message.split('. ')
    console.error(`simulate: ${what}: CONTRIBUTING.md has the options`)
    process.exit(2)
  }
}

export function readOptions(args: readonly string[]): Options {
  const values = valuesOf(args)
  const [part, parts] = values.part?.split('/').map(Number) ?? [0, 1]
  return {
    seeds: seedsOf(values.seeds).filter((_, index) => index % (parts ?? 1) === part),
    ...{ plant: values.plant, engines: enginesOf(values.engine) },
    ...{ without: leftOut(values.without), minutes: Number(values.minutes) },
    ...{
      endsAtFirst: values.first,
      isSmall: values.small,
      isWide: values.wide,
      everyKill: values['every-kill'],
    },
    ...{ mustHappen: values.sometimes, isVerbose: values.verbose, workers: Number(values.workers) },
    clockShifts: values['clock-shift'] === undefined ? [] : shiftsOf(values['clock-shift']),
    kill: values.kill === undefined ? undefined : killOf(values.kill),
    isWorker: values.part !== undefined,
  }
}
