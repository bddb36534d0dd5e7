/** What happened to a seed in a DAG run, for the table of all seeds. */
import type { Setting } from './setting.ts'

export class RunCounts {
  readonly #setting: Setting
  #requests = 0

  constructor(setting: Setting) {
    this.#setting = setting
  }

  begin(): void {
    this.#setting.counts.beginNight()
  }

  /** `hasQuirks`: whether the service deviated from its contract in this night. */
  end(hasQuirks: boolean): void {
    const { service, climate, counts } = this.#setting
    const fresh = service.requests.slice(this.#requests)
    this.#requests += fresh.length
    counts.add('requests', fresh.length)
    for (const { fault } of fresh) if (fault) counts.add(`fault ${fault}`)
    if (hasQuirks)
      for (const [name, value] of Object.entries(climate.quirks)) counts.add(`quirk ${name}=${value}`)
    for (const [option, value] of Object.entries(climate.options)) counts.add(`option ${option}=${value}`)
    for (const name of [...climate.lists, ...climate.byId]) counts.add(`resource ${name}`)
  }
}
