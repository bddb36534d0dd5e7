/** Declares what a command is; each has a file of its own, listed in `commands.ts`. */

import { Argument, InvalidArgumentError } from 'commander'
import { hourMs, isDay, minuteMs } from '../lib/dates.ts'
import type { ExitStatus } from '../lib/errors.ts'
import { whyNotLocal } from '../lib/input-file.ts'
import { nearest } from '../lib/text/nearest.ts'
import type { CommandContext } from './context.ts'

/** Kinds of names that shells can complete for an argument or option. */
export type CompletionKind = 'resource' | 'list' | 'mart' | 'check' | 'dag' | 'connection'

export interface ArgumentDeclaration {
  /** As commander spells it: `<name>` required, `[name]` optional, `[names...]` several. */
  readonly name: string
  readonly summary: string
  readonly completes?: CompletionKind
  readonly choices?: readonly string[]
}

export interface OptionDeclaration {
  /** As commander spells it: `--port <number>`, `-f, --force`; read back in camel case. */
  readonly flags: string
  readonly summary: string
  /** Checks and converts the text, as `calendarDay` does. For a repeated option, `before` is the earlier result. */
  readonly parse?: (text: string, before?: unknown) => unknown
  readonly fallback?: string | number
  readonly completes?: CompletionKind
}

/** Options as parsed; read them with the functions below. */
export type Options = Readonly<Record<string, unknown>>

/** What a run writes; a copy is named by its file. */
export type LineageKind = 'records' | 'marts' | 'none' | { readonly copy: string }

/** What a command takes and does; its name and summary are in `commands.ts`. */
export interface CommandModule {
  readonly arguments?: readonly ArgumentDeclaration[]
  readonly options?: readonly OptionDeclaration[]
  /** Takes `--all`: runs for every connection, in one process each unless this function does it. */
  readonly takesAll?: true | ((context: CommandContext, options: Options) => Promise<ExitStatus>)
  /** Lineage events report its runs and what they read and write; with `none`, only the runs. */
  readonly lineage?: LineageKind | ((context: CommandContext, options: Options) => LineageKind)
  /** Notifies of what has changed in the warehouse once it has ended, unless it is a task of a DAG. */
  readonly notifies?: true
  /** Whole command lines, shown by `--help`. */
  readonly examples: readonly string[]
  /** Lines that `--help` shows before the examples. */
  readonly notes?: readonly string[]
  /** `args` holds the arguments as one flat list. */
  run(context: CommandContext, args: readonly string[], options: Options): Promise<ExitStatus>
}

export interface DeclaredCommand {
  readonly summary: string
  /** What users want to do with it: the help groups commands by this. */
  readonly purpose: string
  /** Other names that users type for it. */
  readonly aliases?: readonly string[]
  /** A command is loaded when it is named, because each brings libraries that only it needs. */
  load(): Promise<{ readonly command: CommandModule }>
}

export interface CommandSet {
  /** By name, `sync` or `dag list`, in the order of the help. */
  readonly commands: Readonly<Record<string, DeclaredCommand>>
  /** Summary of each group, such as `dag`. */
  readonly groups: Readonly<Record<string, string>>
}

/** Accepts a path of this machine. */
export function localPath(text: string): string {
  const why = whyNotLocal(text)
  if (why === undefined) return text
  throw new InvalidArgumentError(`${why.charAt(0).toUpperCase()}${why.slice(1)}.`)
}

/** The parser for values whose name, as in `--out <file>`, says they are paths. */
export const parserOf = (name: string): OptionDeclaration['parse'] =>
  /[<[](file|folder)[>\]]/.test(name) ? localPath : undefined

export function argument(name: string, summary: string): Argument {
  const made = new Argument(name, summary)
  const parser = parserOf(name)
  return parser ? made.argParser(parser) : made
}

/** Accepts digits between two bounds. */
export function integerBetween(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return text => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    const bounds = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
    throw new InvalidArgumentError(`Give a whole number ${bounds}.`)
  }
}

/** Accepts a decimal number above 0. */
export function positiveNumber(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0
  if (value > 0) return value
  throw new InvalidArgumentError('Give a number above 0.')
}

const unitMs = { s: 1000, m: minuteMs, h: hourMs }

/** Accepts a time span; gives milliseconds. */
export function timeSpan(text: string): number {
  const [, amount, unit] = /^(\d+)([smh])$/.exec(text) ?? []
  if (amount && unit) return Number(amount) * unitMs[unit as keyof typeof unitMs]
  throw new InvalidArgumentError('Give a time span such as 90s, 30m or 2h.')
}

/** Accepts a calendar day. */
export function calendarDay(text: string): string {
  if (isDay(text)) return text
  throw new InvalidArgumentError('Give a day as YYYY-MM-DD.')
}

/** Accepts one of a few words. */
export function oneOf<Word extends string>(...words: readonly Word[]) {
  const parse = (text: string): Word => {
    const word = words.find(candidate => candidate === text)
    if (word !== undefined) return word
    const found = nearest(text, words)
    throw new InvalidArgumentError(
      `Give one of ${words.join(', ')}${found ? `: did you mean ${found}?` : '.'}`,
    )
  }
  // For completion.
  return Object.assign(parse, { words })
}

/** Accepts any text. */
export const anyText = (text: string): string => text

/** For an option that may be given several times: a list of its values, in their order. */
export function repeated<Value>(parse: (text: string) => Value): (text: string) => unknown {
  return (text: string, previous: readonly Value[] = []) => [...previous, parse(text)]
}

export function listOption<Value>(options: Options, name: string): readonly Value[] {
  const value = options[name]
  return Array.isArray(value) ? value : []
}

export function numberOption(options: Options, name: string): number | undefined {
  const value = options[name]
  return typeof value === 'number' ? value : undefined
}

/** Reads an option that has a fallback. */
export function numberOf(options: Options, name: string): number {
  return required(numberOption(options, name), name)
}

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** Reads an option that has a fallback. */
export function textOf(options: Options, name: string): string {
  return required(textOption(options, name), name)
}

function required<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`option ${name} has no fallback`)
  return value
}

export function flagOption(options: Options, name: string): boolean {
  return options[name] === true
}
