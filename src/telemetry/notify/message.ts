/** What is told of a night, and when: only what is new. */

export interface NightTold {
  readonly state: 'done' | 'later' | 'failed'
  /** Names of the tasks that were not done. */
  readonly tasks: readonly string[]
}

/** The last night that people were told of is what they know. */
export function isNews(night: NightTold, last: NightTold | undefined): boolean {
  if (night.state === 'done') return last !== undefined && last.state !== 'done'
  return last?.state !== night.state || last.tasks.toSorted().join() !== night.tasks.toSorted().join()
}

export interface NightEnded extends NightTold {
  readonly connection: string
  readonly dag: string
  readonly reason: string | null
}

const words = {
  done: 'is well again',
  later: 'was partial, the next run goes on',
  failed: 'failed',
} as const

/** Chat services cut or refuse longer ones. */
const longest = 500

export function messageOf({ connection, dag, state, reason }: NightEnded): string {
  const line = `${connection}: ${dag} ${words[state]}${reason === null ? '' : `: ${reason}`}`
  const flat = line.replaceAll(/\s+/g, ' ')
  return flat.length > longest ? `${flat.slice(0, longest - 1)}…` : flat
}
