/** What a hint is worth, from how often reads found that it was a change. */
import type { ChangeSignal } from '../../contract/derived/change-signals.ts'
import type { HintCounts, HintKind } from '../../state/by-id/hints.ts'

/** So many reads weigh as much as what is thought beforehand. */
const strength = 20
/** No hint is ever taken for proof: what is sure is an event. */
const leastFresh = 0.02
/** Silence is never trusted further than this: events may have stopped for all that silence tells. */
const leastQuiet = 0.1

const noCounts: HintCounts = {
  told: 0,
  unchanged: 0,
  unchangedExpected: 0,
  quietChanges: 0,
  quietExpected: 0,
}

const sumOf = (left: HintCounts, right: HintCounts): HintCounts => ({
  told: left.told + right.told,
  unchanged: left.unchanged + right.unchanged,
  unchangedExpected: left.unchangedExpected + right.unchangedExpected,
  quietChanges: left.quietChanges + right.quietChanges,
  quietExpected: left.quietExpected + right.quietExpected,
})

const shrunk = ({ unchanged, unchangedExpected }: HintCounts, before: number): number =>
  Math.min(1, Math.max(leastFresh, (unchanged + strength * before) / (unchangedExpected + strength)))

/**
 * By what factor a hint lowers the probability that a record is unchanged: 1 for one that tells nothing. Records of one
 * kind are taken to be like those of all kinds, those like the declared share, until their own reads say otherwise.
 */
function freshFactor(
  share: number,
  { ofKind = noCounts, ofAll = noCounts }: { readonly ofKind?: HintCounts; readonly ofAll?: HintCounts },
): number {
  return shrunk(ofKind, shrunk(ofAll, 1 - share))
}

/** Of the changes, the share that comes without a hint: 1 where nothing is announced. */
const unannounced = ({ quietChanges, quietExpected }: HintCounts): number =>
  Math.min(1, Math.max(leastQuiet, (quietChanges + strength) / (quietExpected + strength)))

/** The hints of one resource, as all its reads so far have shown them. */
export class HintWorth {
  readonly #hints: readonly Pick<ChangeSignal, 'name' | 'share'>[]
  readonly #known: readonly HintKind[]
  readonly #factors = new Map<string, number>()
  readonly #unannounced: ReadonlyMap<string, number>

  constructor(hints: readonly Pick<ChangeSignal, 'name' | 'share'>[], known: readonly HintKind[]) {
    this.#hints = hints
    this.#known = known
    const names = [...new Set(known.map(({ hint }) => hint))]
    this.#unannounced = new Map(names.map(name => [name, unannounced(this.#allOf(name))]))
  }

  /** Several hints of one record often have one cause: the strongest counts. */
  freshFactor({ kind, hints }: { readonly kind: string; readonly hints: readonly string[] }): number {
    return Math.min(1, ...hints.map(name => this.#factorOf(name, kind)))
  }

  /** What is left of the rate of a record while hints that announce many of its changes are silent. */
  quietShare({ hints }: { readonly hints: readonly string[] }): number {
    const silent = [...this.#unannounced].filter(([name]) => !hints.includes(name))
    return Math.min(1, ...silent.map(([, share]) => share))
  }

  #allOf(name: string): HintCounts {
    return this.#known.filter(({ hint }) => hint === name).reduce<HintCounts>(sumOf, noCounts)
  }

  #factorOf(name: string, kind: string): number {
    const place = JSON.stringify([name, kind])
    const factor = this.#factors.get(place) ?? this.#learnt(name, kind)
    this.#factors.set(place, factor)
    return factor
  }

  #learnt(name: string, kind: string): number {
    const share = this.#hints.find(hint => hint.name === name)?.share ?? 0
    const ofKind = this.#known.find(one => one.hint === name && one.kind === kind)
    return freshFactor(share, { ofAll: this.#allOf(name), ...(ofKind && { ofKind }) })
  }
}
