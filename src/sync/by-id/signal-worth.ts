/** Estimates how much a change signal says, from how often a fetch after it found a change. */
import type { ChangeSignal } from '../../contract/derived/change-signals.ts'
import type { SignalCounts, SignalKind } from '../../state/by-id/signal-counts.ts'

/** This many fetches weigh as much as the declared share. */
const strength = 20
/** Only an event proves a change; no other signal does. */
const minFresh = 0.02
/** Silence lowers a rate no further than this: events may simply have stopped. */
const minQuiet = 0.1

type Weighed = Omit<SignalCounts, 'signalled'>

const noCounts: Weighed = {
  unchanged: 0,
  unchangedExpected: 0,
  quietChanges: 0,
  quietExpected: 0,
}

const sumOf = (left: Weighed, right: Weighed): Weighed => ({
  unchanged: left.unchanged + right.unchanged,
  unchangedExpected: left.unchangedExpected + right.unchangedExpected,
  quietChanges: left.quietChanges + right.quietChanges,
  quietExpected: left.quietExpected + right.quietExpected,
})

const shrunk = ({ unchanged, unchangedExpected }: Weighed, before: number): number =>
  Math.min(1, Math.max(minFresh, (unchanged + strength * before) / (unchangedExpected + strength)))

/**
 * The factor by which a signal lowers the probability that a record is unchanged: 1 means that it says nothing. The
 * declared share is the prior for all kinds together, which are in turn the prior for a single kind.
 */
function freshFactor(
  share: number,
  { ofKind = noCounts, ofAll = noCounts }: { readonly ofKind?: Weighed; readonly ofAll?: Weighed },
): number {
  return shrunk(ofKind, shrunk(ofAll, 1 - share))
}

/** The share of changes that come without a signal: 1 if none is announced. */
const unannounced = ({ quietChanges, quietExpected }: Weighed): number =>
  Math.min(1, Math.max(minQuiet, (quietChanges + strength) / (quietExpected + strength)))

/** Weighs the change signals of one resource by all its fetches so far. */
export class SignalWorth {
  readonly #declared: readonly Pick<ChangeSignal, 'name' | 'share'>[]
  readonly #known: readonly SignalKind[]
  readonly #factors = new Map<string, number>()
  readonly #unannounced: ReadonlyMap<string, number>

  constructor(declared: readonly Pick<ChangeSignal, 'name' | 'share'>[], known: readonly SignalKind[]) {
    this.#declared = declared
    this.#known = known
    const names = [...new Set(known.map(({ signal }) => signal))]
    this.#unannounced = new Map(names.map(name => [name, unannounced(this.#allOf(name))]))
  }

  /** Several signals about one record often have the same cause, so only the strongest counts. */
  freshFactor({ kind, signals }: { readonly kind: string; readonly signals: readonly string[] }): number {
    return Math.min(1, ...signals.map(name => this.#factorOf(name, kind)))
  }

  /** The share of a record's rate that remains while signals that usually announce its changes are silent. */
  quietShare({ signals }: { readonly signals: readonly string[] }): number {
    const silent = [...this.#unannounced].filter(([name]) => !signals.includes(name))
    return Math.min(1, ...silent.map(([, share]) => share))
  }

  #allOf(name: string): Weighed {
    return this.#known.filter(({ signal }) => signal === name).reduce<Weighed>(sumOf, noCounts)
  }

  #factorOf(name: string, kind: string): number {
    const slot = JSON.stringify([name, kind])
    const factor = this.#factors.get(slot) ?? this.#learnt(name, kind)
    this.#factors.set(slot, factor)
    return factor
  }

  #learnt(name: string, kind: string): number {
    const share = this.#declared.find(signal => signal.name === name)?.share ?? 0
    const ofKind = this.#known.find(one => one.signal === name && one.kind === kind)
    return freshFactor(share, { ofAll: this.#allOf(name), ...(ofKind && { ofKind }) })
  }
}
