/** What happened to a seed in a night, for the table of all seeds. */
import type { Setting } from './setting.ts'

export class NightCounts {
  readonly #setting: Setting
  #requests = 0

  constructor(setting: Setting) {
    this.#setting = setting
  }

  begin(): void {
    this.#setting.counts.beginNight()
  }

  /** `isLying`: whether the service deviated from its contract in this night. */
  end(isLying: boolean): void {
    const { service, climate, counts } = this.#setting
    const fresh = service.requests.slice(this.#requests)
    this.#requests += fresh.length
    counts.add('requests', fresh.length)
    for (const { fault } of fresh) if (fault) counts.add(`fault ${fault}`)
    if (isLying) for (const [lie, value] of Object.entries(climate.lies)) counts.add(`lie ${lie}=${value}`)
    for (const [option, value] of Object.entries(climate.options)) counts.add(`option ${option}=${value}`)
    for (const name of [...climate.lists, ...climate.byId]) counts.add(`resource ${name}`)
  }
}
