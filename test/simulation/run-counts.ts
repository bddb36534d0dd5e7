/** Counts what happened on a day of a seed, for the summary of all seeds. */
import type { Setting } from './setting.ts'

export class RunCounts {
  readonly #setting: Setting
  #requests = 0

  constructor(setting: Setting) {
    this.#setting = setting
  }

  begin(): void {
    this.#setting.counts.beginDay()
  }

  /** `hasQuirks`: whether the service deviated from its contract on this day. */
  end(hasQuirks: boolean): void {
    const { service, scenario, counts } = this.#setting
    const fresh = service.requests.slice(this.#requests)
    this.#requests += fresh.length
    counts.add('requests', fresh.length)
    for (const { fault } of fresh) if (fault) counts.add(`fault ${fault}`)
    if (hasQuirks)
      for (const [name, value] of Object.entries(scenario.quirks)) counts.add(`quirk ${name}=${value}`)
    for (const [option, value] of Object.entries(scenario.options)) counts.add(`option ${option}=${value}`)
    for (const name of [...scenario.lists, ...scenario.byId]) counts.add(`resource ${name}`)
  }
}
